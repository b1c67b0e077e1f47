//! The BVH format (Biovision hierarchy) as found in the wild: bytes in, bytes out.
//!
//! ```text
//! HIERARCHY                       a tree of joints: OFFSET from the parent, names of the CHANNELS
//! ROOT name { OFFSET … CHANNELS … JOINT name { … } End Site { OFFSET … } }
//! MOTION                          one line per frame: values of all channels in the order of the tree
//! Frames: n   Frame Time: seconds
//! ```
//!
//! Rotations are degrees, multiplied in the order in which their channels stand: R = R₁ R₂ R₃.

mod frames;
mod hierarchy;
mod motion;
mod number;
mod read;
mod scan;
mod write;

pub use hierarchy::{Channel, Hierarchy, Node};
pub use motion::Motion;
pub use read::{Reading, Remark, read};
pub use write::write;
