//! Values with members as text: what opens them, what stands between them, what closes them.

/// Writes each item into `out`, with `between` after all but the last.
pub fn list<T>(
    out: &mut String,
    [open, close]: [char; 2],
    between: &str,
    items: impl Iterator<Item = T>,
    mut each: impl FnMut(&mut String, T),
) {
    out.push(open);
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push_str(between);
        }
        each(out, item);
    }
    out.push(close);
}
