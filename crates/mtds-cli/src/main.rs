//! The `mtds` program.
fn main() {}
