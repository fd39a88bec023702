//! A Jupyter notebook.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    pipelint_fuzz::compare(&[("orders.sql", pipelint_fuzz::ORDERS), ("n.ipynb", data)], "n.ipynb", false);
});
