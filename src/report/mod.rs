//! The result of a run as text, JSON and other formats: one file a format.
