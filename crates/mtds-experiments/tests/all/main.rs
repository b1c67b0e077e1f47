//! The experiments as others see them, in one binary: it is linked once.

#[path = "../../../mtds-report/tests/all/balance/mod.rs"]
mod balance;
mod dho;
mod dho_fixture;
mod evidence_bound;
#[path = "../../../mtds-cli/tests/all/noise/mod.rs"]
mod noise;
