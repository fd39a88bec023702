//! Loads rules (YAML, one a file) and matches them against changes.
