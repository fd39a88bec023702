//! Files of Spark's metadata logs: a version line, then lines of JSON (`HDFSMetadataLog`, `MetadataVersionUtil`).

use super::ProblemKind;
use serde_json::Value as Json;

/// Why a file does not say what it should.
pub type Fault = (ProblemKind, String);

pub fn damaged(reason: impl Into<String>) -> Fault {
    (ProblemKind::Damaged, reason.into())
}

/// The lines of a log file after its version, which is one of those up to `newest`.
pub fn lines(bytes: &[u8], newest: u32) -> Result<(u32, Vec<&str>), Fault> {
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is no text"))?;
    let mut lines = text.lines();
    let version = version(lines.next().unwrap_or_default(), newest)?;
    Ok((version, lines.collect()))
}

/// `v1`, `v2`, …
pub fn version(text: &str, newest: u32) -> Result<u32, Fault> {
    let number = text.strip_prefix('v').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    match number.and_then(|digits| digits.parse::<u32>().ok()) {
        Some(number) if (1..=newest).contains(&number) => Ok(number),
        Some(0) => Err(damaged("it says version 0, which there is not")),
        Some(number) => {
            let reason = format!("it has version {number}; the newest that is known here is {newest}");
            Err((ProblemKind::Version, reason))
        }
        None if text.is_empty() => Err(damaged("it is empty")),
        None => Err((ProblemKind::Foreign, "its first line is no version of a log of Spark".to_owned())),
    }
}

pub fn json(text: &str) -> Result<Json, Fault> {
    serde_json::from_str(text).map_err(|error| damaged(format!("it is cut off or no JSON: {error}")))
}

/// The number that a log names its file by; `9.compact` is the ninth too.
pub fn number(name: &str) -> Option<u64> {
    name.strip_suffix(".compact").unwrap_or(name).parse().ok()
}
