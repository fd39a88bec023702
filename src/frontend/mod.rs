//! From text to datasets and flows: SQL, Python and notebooks.

pub mod origin;
pub mod sql;

/// Stable hash of a text that is compared but not understood (FNV-1a over its words, so that layout does not count).
pub fn content_hash(text: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for word in text.split_whitespace() {
        for byte in word.bytes().chain([b' ']) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}
