//! Arrays of NumPy in a ZIP archive: reading them, writing them, and how a family lies in them.
//!
//! | arrays | meaning |
//! |---|---|
//! | `Y` | all outputs, `n_seq × n_time × d_obs`, or `n_seq × n_time` for a single one; NaN where missing |
//! | `Y1`, `Y2`, … or `1`, `2`, … | outputs of each sequence, `n_time × d_obs` or `n_time` |
//! | `U` | inputs, `n_seq × n_time × d_input`, or common to all, `n_time × d_input` |
//! | `U1`, `U2`, … | inputs of each sequence, `n_time × d_input` or `n_time` |
//! | `series`, `label` | names and labels of the sequences; text |
//! | `outputs`, `inputs` | names of the columns; text |
//!
//! Inputs may also lie in a file of their own under the keys `1`, `2`, …. Times are 1, 2, 3, ….

mod archive;
mod layout;
mod npy;
mod write;

pub(crate) use layout::read;
pub(crate) use write::bytes;
