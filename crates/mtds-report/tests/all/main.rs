//! Charts and pages, in one binary: it is linked once.

mod balance;
mod charts;
mod fit_page;
mod marks;
