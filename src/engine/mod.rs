//! The mini engine: executes analysed plans on rows, with tables, sources, state stores and checkpoints that compare at restart
//! what Structured Streaming compares. It knows no rule and no change, so what it observes is independent evidence.
