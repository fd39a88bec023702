//! A specification of Spark's pipelines.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    pipelint_fuzz::compare(&[("orders.sql", pipelint_fuzz::ORDERS), ("spark-pipeline.yml", data)], "spark-pipeline.yml", false);
});
