//! Charts, tables and pages that the program, the experiments and others share: data in, text out.
//!
//! ```text
//! markup   elements and escaped text
//! chart    numbers → inline SVG             text    numbers → aligned plain text
//! page     sections → one self-contained page, with figures and tables
//! fit      what is measured of a fit, and its page      code_map, usage, new_members, structures    what its code and its structure came to
//! motion   rows of poses, and what was found in files of motion capture
//! ```
//!
//! Nothing here opens a file, reads a clock or prints.

pub mod chart;
pub mod code_map;
pub mod fit;
pub mod markup;
pub mod motion;
pub mod new_members;
pub mod page;
pub mod scores;
pub mod structures;
pub mod text;
pub mod usage;
