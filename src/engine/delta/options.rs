//! Options of a streaming read that Delta checks at every start, on an old checkpoint too (`DeltaOptions`, `DeltaSource`).

use crate::engine::error::ExecutionError;
use crate::engine::table::Table;
use crate::model::Read;

/// # Errors
/// `DELTA_ILLEGAL_OPTION`, `DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET`, `DELTA_VERSION_NOT_FOUND`,
/// `DELTA_TIMESTAMP_GREATER_THAN_COMMIT`; for time travel, which streams do not know, an internal error.
pub fn check_reader(read: &Read, table: &Table, is_future: impl Fn(&str) -> bool) -> Result<(), ExecutionError> {
    let option = |name: &str| read.option(name).map(str::trim);
    if let Some(value) = option("maxfilespertrigger").filter(|value| !is_positive(value)) {
        let message =
            format!("invalid value '{value}' for option 'maxFilesPerTrigger': a positive integer is asked for");
        return Err(ExecutionError::new("DELTA_ILLEGAL_OPTION", message));
    }
    if ["versionasof", "timestampasof"].into_iter().any(|name| option(name).is_some()) {
        return Err(ExecutionError::new("STREAM_FAILED/INTERNAL_ERROR", "a stream does not travel in time"));
    }
    let (version, timestamp) = (option("startingversion"), option("startingtimestamp"));
    if version.is_some() && timestamp.is_some() {
        return Err(ExecutionError::new(
            "DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET",
            "Please either provide 'startingVersion' or 'startingTimestamp'",
        ));
    }
    if let Some(wanted) = version.and_then(|text| text.parse::<u64>().ok())
        && wanted > table.next_version
    {
        let message = format!("cannot time travel to version {wanted}: the last one is {}", table.next_version);
        return Err(ExecutionError::new("DELTA_VERSION_NOT_FOUND", message));
    }
    if timestamp.is_some_and(is_future) {
        let message = "the provided timestamp is after the latest version available";
        return Err(ExecutionError::new("DELTA_TIMESTAMP_GREATER_THAN_COMMIT", message));
    }
    Ok(())
}

fn is_positive(text: &str) -> bool {
    text.parse::<i64>().is_ok_and(|number| number > 0)
}
