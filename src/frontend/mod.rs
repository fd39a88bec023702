//! From text to datasets and flows: SQL, Python and notebooks.
