//! Where families come from and where models go.
