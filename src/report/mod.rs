//! The result of a run as text, JSON and other formats: one file a format.
//!
//! Takes a [`Report`], which is complete in itself (also the texts that its places stand in), and gives one string a format.
//! Whatever came out of a repository is made harmless for the format it goes to.

pub mod backfill;
pub mod checkpoint;
mod diagram;
mod github;
mod gitlab;
mod html;
mod json;
mod junit;
pub mod lint;
mod markdown;
pub mod plan;
pub mod run;
pub mod safe;
mod sarif;
pub mod show;
mod snippet;
mod text;

pub use diagram::{dot_of, mermaid_of};

use crate::verdict::Report;
use std::str::FromStr;

/// A report's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    Sarif,
    Github,
    Gitlab,
    Junit,
    Markdown,
    Html,
    Mermaid,
    Dot,
}

impl Format {
    /// Every format by the name that the command line knows.
    pub const ALL: [(&'static str, Format); 10] = [
        ("text", Format::Text),
        ("json", Format::Json),
        ("sarif", Format::Sarif),
        ("github", Format::Github),
        ("gitlab", Format::Gitlab),
        ("junit", Format::Junit),
        ("markdown", Format::Markdown),
        ("html", Format::Html),
        ("mermaid", Format::Mermaid),
        ("dot", Format::Dot),
    ];
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Self::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, format)| *format).ok_or_else(|| format!("`{text}` is no report format; known are {}", names()))
    }
}

/// How a report for people looks.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    pub colors: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// Reasons, witnesses and remedies of every finding, also of notes.
    pub explain: bool,
}

pub fn render(report: &Report, format: Format, style: Style) -> String {
    match format {
        Format::Text => text::render(report, style),
        Format::Json => json::render(report),
        Format::Sarif => safe::json(&sarif::render(report)),
        Format::Github => github::render(report),
        Format::Gitlab => safe::json(&gitlab::render(report)),
        Format::Junit => junit::render(report),
        Format::Markdown => markdown::render(report),
        Format::Html => html::render(report),
        Format::Mermaid => diagram::mermaid(report),
        Format::Dot => diagram::dot(report),
    }
}
