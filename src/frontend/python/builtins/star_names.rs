//! Names that `from library import *` brings.

pub const PIPELINE_NAMES: &[&str] = &[
    "table",
    "view",
    "read",
    "read_stream",
    "expect",
    "expect_or_drop",
    "expect_or_fail",
    "expect_all",
    "expect_all_or_drop",
    "expect_all_or_fail",
    "apply_changes",
    "create_streaming_table",
    "create_streaming_live_table",
    "append_flow",
    "create_table",
    "create_view",
    "create_target_table",
];
