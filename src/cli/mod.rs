//! Command line: arguments, and one file a subcommand.
