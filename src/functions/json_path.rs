pub(super) fn parse(text: &str) -> Option<serde_json::Value> {
    serde_json::from_str(text).ok()
}
pub(super) fn scalar_text(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(s) => Some(s.clone()),
        v => Some(v.to_string()),
    }
}
