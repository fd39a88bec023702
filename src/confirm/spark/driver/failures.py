"""Spark's exceptions and the messages of its events, as an error class and a sentence."""

import re

# What wraps the error that says something.
WRAPPERS = ("STREAM_FAILED", "PIPELINE_RUN_FAILED", "TASK_WRITE_FAILED")

# Raised by the filter that stands for an expectation.
VIOLATION = "EXPECTATION_VIOLATION"

# Failures to which Spark gives no class of their own, by what their messages say.
UNNAMED = (
    ("sources in the checkpoint offsets", "STREAM_FAILED/ASSERT_SOURCE_COUNT"),
    ("Wrong basePath", "STREAM_FAILED/FILE_SOURCE_WRONG_BASE_PATH"),
    ("No usable value for offset", "STREAM_FAILED/OFFSET_JSON_OF_OTHER_SOURCE"),
    ("EOFException", "STREAM_FAILED/EOFException"),
    ("NullPointerException", "STREAM_FAILED/NULL_POINTER_IN_STATE"),
    ("Race while writing batch", "STREAM_FAILED/FILE_SINK_RACE"),
    ("Multiple streaming queries are concurrently using", "STREAM_FAILED/FILE_SINK_RACE"),
    ("Union between streaming and batch DataFrames", "UNSUPPORTED_UNION_STREAM_BATCH"),
    ("compact", "STREAM_FAILED/FILE_SINK_LOG_MISSING"),
)


# A call that the server did not take.
DETAILS = re.compile(r"status = StatusCode\.(\w+)\s+details = \"(.*?)\"\s*\n", re.S)


class NoEquivalent(Exception):
    """Something of the user's platform that Apache Spark has nothing for."""


# What a streaming query's failure says before and behind the failure itself.
QUERY = re.compile(r"^\[STREAM_FAILED\] Query \[id = [^\]]*\] terminated with exception: ")
BEHIND = ("JVM stacktrace", "\n=== Streaming Query ===")


def message_of(text):
    for words in BEHIND:
        text = text.split(words)[0]
    return QUERY.sub("", text.strip())[:1500]


def class_in(text):
    """The error class that a chain of messages tells of: the first that is no wrapper."""
    if f"[{VIOLATION}]" in text:
        return VIOLATION
    found = re.findall(r"\[([A-Z_][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]", text)
    telling = [name for name in found if name.split(".")[0] not in WRAPPERS and "_" in name and name[0] != "_"]
    if telling:
        return telling[0]
    for words, name in UNNAMED:
        if words in text:
            return name
    return found[0] if found else None


def described(error):
    if isinstance(error, NoEquivalent):
        return {"class": "NO_EQUIVALENT", "message": str(error)}
    text = str(error)
    details = DETAILS.search(text)
    if details:
        return {"class": details.group(1), "message": details.group(2)}
    name = class_in(text)
    if name is None and hasattr(error, "getCondition"):
        name = error.getCondition()
    return {"class": name or type(error).__name__, "message": message_of(text)}
