//! A module of a pipeline.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    pipelint_fuzz::compare(&[("orders.sql", pipelint_fuzz::ORDERS), ("p.py", &[b"import dlt\n", data].concat())], "p.py", data.len() % 8 == 0);
});
