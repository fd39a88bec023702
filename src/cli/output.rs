//! Writing to the terminal and to report files.

use super::Failure;
use crate::model::{Diagnostic, DiagnosticLevel};
use crate::report::safe;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Whether standard output gets colours, by `--color`, `NO_COLOR` and the terminal.
pub fn colored(choice: Option<&str>) -> bool {
    match choice {
        Some("always") => true,
        Some("never") => false,
        _ => io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

/// Columns where nothing tells them.
const DEFAULT_WIDTH: usize = 100;
/// Narrower text cannot be read.
const LEAST_WIDTH: usize = 40;

/// Columns to write for: `COLUMNS`, else those of the terminal.
pub fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    told.or_else(terminal).unwrap_or(DEFAULT_WIDTH).max(LEAST_WIDTH)
}

/// Prints to standard output, with no line in it that a workflow's log takes for a command.
pub fn print(text: &str) -> Result<(), Failure> {
    print_exactly(&safe::without_commands(text))
}

/// Prints to standard output; a closed pipe is no error (`pipelint … | head`).
pub fn print_exactly(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a report file: whole, or not at all.
pub fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    write_whole(path, text).map_err(|error| Failure::new(format!("cannot write `{}`: {error}", path.display())))
}

/// Writes next to the file and renames, so that a full disk leaves the file as it was. What is no regular file (a pipe, a device)
/// is written into.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    // A link stays a link: the file that it points at is replaced.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if name.is_empty() || path.exists() && !path.is_file() {
        return std::fs::write(&path, text);
    }
    let unfinished = path.with_file_name(format!(".{name}.{}.unfinished", std::process::id()));
    let written = std::fs::write(&unfinished, text).and_then(|()| std::fs::rename(&unfinished, &path));
    if written.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    written
}

/// Prints a remark to standard error.
pub fn print_note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "note: {}", safe::block(text));
}

/// Prints an error of the tool to standard error.
pub fn print_failure(failure: &Failure) {
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "error: {}", safe::block(&failure.message));
    if let Some(help) = &failure.help {
        let _ = writeln!(stderr, "  help: {}", safe::block(help));
    }
}

/// Prints a diagnostic of the input to standard error: a line, and one for what to do.
pub fn print_diagnostic(diagnostic: &Diagnostic) {
    let level = if diagnostic.level == DiagnosticLevel::Error { "error" } else { "warning" };
    let place = match (&diagnostic.span, &diagnostic.path) {
        (Some(span), _) => format!("{}:{}:{}: ", span.path, span.line, span.column),
        (None, Some(path)) => format!("{path}: "),
        (None, None) => String::new(),
    };
    let text = format!("{place}{}", diagnostic.message);
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "{level}[{}]: {}", diagnostic.code, safe::inline(&text));
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(stderr, "  help: {}", safe::inline(help));
    }
}
