//! The result as plain tables, as one document, and as a page with every table and figure.
//!
//! | module | shows |
//! |---|---|
//! | `summary` | tables for a terminal, and the document |
//! | `page` | the order of the page, the facts at its top, how it was made |
//! | `errors` | experiments 1 and 2: tables, curves, styles, tests |
//! | `control` | experiment 3 and the map |
//! | `names` | what ways to forecast are called |

mod control;
mod errors;
mod names;
mod page;
mod summary;

pub use control::Poses;
