//! A file of pipeline SQL.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    pipelint_fuzz::compare(&[("orders.sql", data)], "orders.sql", data.len() % 8 == 0);
});
