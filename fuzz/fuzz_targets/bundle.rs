//! A bundle.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    pipelint_fuzz::compare(&[("orders.sql", pipelint_fuzz::ORDERS), ("databricks.yml", data)], "databricks.yml", false);
});
