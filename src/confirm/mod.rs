//! The experiment: BEFORE on batch 1, AFTER on batch 2 with the same checkpoints, a control from nothing, and a witness.
