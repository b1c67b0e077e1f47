//! family
