//! Mutations of a revision's files: those that may mean anything, and those that mean nothing.

use super::Files;

/// A small generator (SplitMix64): the same numbers on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Below a limit that is not zero.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("it is below a usize")
    }

    /// Once in so many times.
    pub fn chance(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// Texts that programs stumble over.
const HARD: [&str; 30] = [
    "",
    "0",
    "-1",
    "9223372036854775808",
    "1e999",
    "NULL",
    "None",
    "''",
    "\"",
    "`",
    "'",
    "(",
    ")",
    "((((((((",
    "[",
    "{",
    "}",
    "/*",
    "--",
    "#",
    "\\",
    "\u{0}",
    "\u{202e}",
    "é",
    "🙂",
    "\t",
    "\r",
    ";",
    "${x}",
    "{{ x }}",
];

pub struct Mutator<'a> {
    random: &'a mut Random,
    /// A file of another case, to take words and lines from.
    other: Vec<u8>,
}

impl<'a> Mutator<'a> {
    pub fn new(random: &'a mut Random, other: &Files) -> Self {
        let at = random.below(other.len().max(1));
        let other = other.values().nth(at).cloned().unwrap_or_default();
        Mutator { random, other }
    }

    /// One file changed in up to four places.
    pub fn mutant(&mut self, files: &Files) -> Files {
        let mut files = files.clone();
        if files.is_empty() {
            return files;
        }
        let at = self.random.below(files.len());
        let path = files.keys().nth(at).expect("one of them").clone();
        let mut bytes = files.remove(&path).expect("the file");
        for _ in 0..=self.random.below(4) {
            bytes = self.changed(&bytes);
        }
        files.insert(path, bytes);
        files
    }

    /// Up to this byte and from it on, at the border of a word.
    fn cut(&mut self, bytes: &[u8]) -> usize {
        let mut at = self.random.below(bytes.len() + 1);
        while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
            at += 1;
        }
        at
    }

    fn changed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let (a, b) = (self.cut(bytes), self.cut(bytes));
        let (start, end) = (a.min(b), a.max(b).min(a.min(b) + 80));
        let (head, middle, tail) = (&bytes[..start], &bytes[start..end], &bytes[end..]);
        let hard = HARD[self.random.below(HARD.len())].as_bytes();
        match self.random.below(10) {
            0 => [head, tail].concat(),
            1 => [head, middle, middle, tail].concat(),
            2 => [head, hard, middle, tail].concat(),
            3 => [head, hard, tail].concat(),
            4 => head.to_vec(),
            5 => {
                let from = self.random.below(self.other.len() + 1);
                let piece = &self.other[from..self.other.len().min(from + 120)];
                [head, piece, tail].concat()
            }
            6 => {
                let mut flipped = bytes.to_vec();
                if let Some(byte) = flipped.get_mut(start) {
                    *byte ^= 1 << self.random.below(8);
                }
                flipped
            }
            7 => self.with_other_number(bytes),
            8 => self.with_swapped_lines(bytes),
            _ => [head, &b"(".repeat(300), middle, &b")".repeat(300), tail].concat(),
        }
    }

    fn with_other_number(&mut self, bytes: &[u8]) -> Vec<u8> {
        let digits: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_digit()).collect();
        let mut changed = bytes.to_vec();
        if !digits.is_empty() {
            let at = digits[self.random.below(digits.len())];
            changed[at] = b'0' + u8::try_from(self.random.below(10)).expect("a digit");
        }
        changed
    }

    fn with_swapped_lines(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        if lines.len() > 1 {
            let (a, b) = (self.random.below(lines.len()), self.random.below(lines.len()));
            lines.swap(a, b);
        }
        lines.concat()
    }

    /// The same files with comments and blanks inside of their statements; none where there is no place for one.
    pub fn harmless(&mut self, files: &Files) -> Option<Files> {
        let mut changed = false;
        let mut harmless = files.clone();
        for (path, bytes) in &mut harmless {
            let Ok(text) = std::str::from_utf8(bytes) else { continue };
            let noisy = match path.rsplit('.').next() {
                Some("sql") => self.noisy_sql(text),
                Some("py") => self.noisy_python(text),
                _ => continue,
            };
            changed |= noisy.as_bytes() != bytes.as_slice();
            *bytes = noisy.into_bytes();
        }
        changed.then_some(harmless)
    }

    /// Some blanks outside of texts, names and comments become a comment between blanks.
    fn noisy_sql(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let length = match letter {
                '\'' | '"' | '`' => quoted(rest, letter),
                '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
                '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
                _ => letter.len_utf8(),
            };
            match letter {
                ' ' if self.random.chance(12) => out.push_str(" /* a note; 'not' a text */\n  "),
                '\n' if self.random.chance(12) && !out.trim_end().ends_with("--") => out.push_str("   \n\n"),
                _ => out.push_str(&rest[..length]),
            }
            rest = &rest[length..];
        }
        out
    }

    /// Comments behind lines and between them. Notebooks and files with texts of several lines are left alone.
    fn noisy_python(&mut self, text: &str) -> String {
        if ["\"\"\"", "'''", "# MAGIC", "# COMMAND", "\\\n"].iter().any(|mark| text.contains(mark)) {
            return text.to_owned();
        }
        let mut out = String::new();
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches('\n');
            // A suppression belongs to a line: it stays where it is.
            if line.ends_with('\n') && !bare.trim().is_empty() && !bare.contains('#') && self.random.chance(6) {
                out.push_str(bare);
                out.push_str("  # a note\n\n");
            } else {
                out.push_str(line);
            }
        }
        out
    }
}

/// Length of a quoted text or name at the start, both quotes included.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quote != '`' => escaped = true,
            _ if letter == quote => return at + letter.len_utf8(),
            _ => {}
        }
    }
    text.len()
}
