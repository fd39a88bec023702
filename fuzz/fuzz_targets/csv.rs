//! Rows of a source.

#![no_main]

use pipelint::confirm::Data;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(folder) = tempfile::tempdir() else { return };
    let batch = folder.path().join("batch1");
    if std::fs::create_dir_all(&batch).is_ok() {
        for name in ["raw.orders.csv", "raw.orders.json"] {
            let _ = std::fs::write(batch.join(name), data);
            let _ = Data::read(folder.path());
            let _ = std::fs::remove_file(batch.join(name));
        }
    }
});
