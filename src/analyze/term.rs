//! Canonical terms: expressions and queries as shared trees whose identity is their meaning.
//!
//! Takes pieces of text and other terms; gives a [`Term`]. Invariants: equal ids are equal trees, in both revisions and in every
//! run; what people never see (an opaque function's content, a literal's type) counts in the id; operands whose order means
//! nothing stand in an order that depends on themselves alone. Terms are compared, searched and rewritten as trees; text is
//! only what one printer makes of them, for people or for debugging.

use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// Longer printed forms are cut; identity never is.
const MAX_TEXT: usize = 4_000;

/// Operands are put in order by this much of their text, then by identity.
const ORDERING_TEXT: usize = 120;

/// 128 bits of a hash over the whole tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId(u128);

/// What a term is, beyond how it prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TermKind {
    /// Anything made of its parts.
    Plain,
    Literal,
    /// A leaf of a query: its first part is its name, a number may follow.
    Source,
    /// A column of a source: the source, a dot, the column's name.
    Column,
    /// A field of a struct: what holds it, a dot, the field's name.
    Field,
    /// Code that no plan shows: its name, and its content hidden.
    Code,
    /// An interval of days and time, in microseconds.
    Interval(i64),
    /// `window(time, length, slide, start)`.
    TimeWindow,
    /// `session_window(time, gap)`.
    SessionWindow,
    /// A call that gives other values each time it runs.
    Volatile,
    /// The values that the branches of a union give for one column.
    Union,
    /// Operands between an opening text and a closing one, in an order that means nothing.
    Unordered,
    /// What a comparison leaves out.
    Hole,
}

#[derive(Debug, Clone)]
enum Part {
    Text(Arc<str>),
    /// Counts in the identity, and is not shown to people.
    Hidden(Arc<str>),
    /// Is shown to people, and does not count in the identity.
    Label(Arc<str>),
    Term(Term),
}

struct Inner {
    id: TermId,
    kind: TermKind,
    parts: Vec<Part>,
}

/// A canonical expression or query; cheap to clone.
#[derive(Clone)]
pub struct Term(Arc<Inner>);

/// Puts a term together, part by part.
pub struct TermBuilder {
    kind: TermKind,
    parts: Vec<Part>,
}

impl TermBuilder {
    pub fn new(kind: TermKind) -> Self {
        TermBuilder { kind, parts: Vec::new() }
    }

    pub fn text(mut self, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.parts.push(Part::Text(text));
        }
        self
    }

    pub fn hidden(mut self, text: impl Into<Arc<str>>) -> Self {
        self.parts.push(Part::Hidden(text.into()));
        self
    }

    pub fn label(mut self, text: impl Into<Arc<str>>) -> Self {
        self.parts.push(Part::Label(text.into()));
        self
    }

    pub fn term(mut self, term: Term) -> Self {
        self.parts.push(Part::Term(term));
        self
    }

    /// Terms with text between them.
    pub fn list(mut self, terms: impl IntoIterator<Item = Term>, separator: &str) -> Self {
        for (index, term) in terms.into_iter().enumerate() {
            if index > 0 {
                self = self.text(separator);
            }
            self = self.term(term);
        }
        self
    }

    pub fn build(self) -> Term {
        Term::of(self.kind, self.parts)
    }
}

impl Term {
    fn of(kind: TermKind, parts: Vec<Part>) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(format!("{kind:?}").as_bytes());
        for part in &parts {
            let (tag, text) = match part {
                Part::Text(text) => (b't', text),
                Part::Hidden(text) => (b'h', text),
                Part::Label(_) => continue,
                Part::Term(term) => {
                    hasher.update(b"c");
                    hasher.update(term.0.id.0.to_le_bytes());
                    continue;
                }
            };
            hasher.update([tag]);
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        let mut id = [0_u8; 16];
        for (to, from) in id.iter_mut().zip(hasher.finalize()) {
            *to = from;
        }
        Term(Arc::new(Inner { id: TermId(u128::from_le_bytes(id)), kind, parts }))
    }

    /// A term of plain text.
    pub fn plain(text: impl Into<Arc<str>>) -> Self {
        TermBuilder::new(TermKind::Plain).text(text).build()
    }

    /// Operands whose order means nothing, in an order of their own: literals last, as people write them.
    pub fn unordered(open: &str, mut operands: Vec<Term>, separator: &str, close: &str) -> Self {
        operands.sort_by_cached_key(Term::place_among_operands);
        TermBuilder::new(TermKind::Unordered).text(open).list(operands, separator).text(close).build()
    }

    fn place_among_operands(&self) -> (bool, (String, TermId)) {
        (matches!(self.kind(), TermKind::Literal | TermKind::Interval(_)), self.ordering())
    }

    /// What terms are ordered by: their text as far as it goes, then their identity.
    pub fn ordering(&self) -> (String, TermId) {
        let mut printer = Printer { out: String::new(), limit: ORDERING_TEXT, style: &Style::Debug };
        printer.term(self);
        (printer.out, self.0.id)
    }

    pub fn id(&self) -> TermId {
        self.0.id
    }

    pub fn kind(&self) -> TermKind {
        self.0.kind
    }

    /// The terms that this one is made of, in order.
    pub fn children(&self) -> impl Iterator<Item = &Term> {
        self.0.parts.iter().filter_map(|part| match part {
            Part::Term(term) => Some(term),
            Part::Text(_) | Part::Hidden(_) | Part::Label(_) => None,
        })
    }

    fn first_text(&self) -> Option<&str> {
        self.0.parts.iter().find_map(|part| match part {
            Part::Text(text) | Part::Label(text) => Some(text.as_ref()),
            Part::Hidden(_) | Part::Term(_) => None,
        })
    }

    fn last_text(&self) -> Option<&str> {
        match self.0.parts.last()? {
            Part::Text(text) | Part::Label(text) => Some(text),
            Part::Hidden(_) | Part::Term(_) => None,
        }
    }

    /// Name of the source that this is, without its number.
    pub fn source_name(&self) -> Option<&str> {
        self.first_text().filter(|_| self.kind() == TermKind::Source)
    }

    /// The source and the column that this is.
    pub fn column(&self) -> Option<(&Term, &str)> {
        let source = self.children().next().filter(|_| self.kind() == TermKind::Column)?;
        Some((source, self.last_text()?))
    }

    /// What holds the field that this is, and the field's name.
    pub fn field(&self) -> Option<(&Term, &str)> {
        let base = self.children().next().filter(|_| self.kind() == TermKind::Field)?;
        Some((base, self.last_text()?))
    }

    /// Some term in this one, itself included, passes a test. Shared parts are looked at once.
    pub fn any(&self, test: &mut impl FnMut(&Term) -> bool) -> bool {
        let mut seen = HashSet::new();
        let mut pending = vec![self];
        while let Some(term) = pending.pop() {
            if !seen.insert(term.0.id) {
                continue;
            }
            if test(term) {
                return true;
            }
            pending.extend(term.children());
        }
        false
    }

    pub fn contains(&self, other: &Term) -> bool {
        self.any(&mut |term| term == other)
    }

    /// Some call of a function is part of it.
    pub fn calls(&self, function: &str) -> bool {
        self.any(&mut |term| {
            term.first_text().and_then(|text| text.strip_suffix('(')).is_some_and(|name| name == function)
        })
    }

    /// Some column of a source, or the source itself, is part of it.
    pub fn mentions_source(&self, name: &str) -> bool {
        self.any(&mut |term| term.source_name() == Some(name))
    }

    /// This term with others in the place of some of its parts. `replace` is asked from the top; what it gives is not entered.
    pub fn replaced(&self, replace: &mut impl FnMut(&Term) -> Option<Term>) -> Term {
        self.replaced_once(replace, &mut HashMap::new())
    }

    fn replaced_once(&self, replace: &mut impl FnMut(&Term) -> Option<Term>, done: &mut HashMap<TermId, Term>) -> Term {
        if let Some(known) = done.get(&self.0.id) {
            return known.clone();
        }
        let made = match replace(self) {
            Some(other) => other,
            None => self.rebuilt(replace, done),
        };
        done.insert(self.0.id, made.clone());
        made
    }

    fn rebuilt(&self, replace: &mut impl FnMut(&Term) -> Option<Term>, done: &mut HashMap<TermId, Term>) -> Term {
        let mut differs = false;
        let mut parts = Vec::with_capacity(self.0.parts.len());
        for part in &self.0.parts {
            parts.push(match part {
                Part::Term(term) => {
                    let other = term.replaced_once(replace, done);
                    differs |= other != *term;
                    Part::Term(other)
                }
                Part::Text(_) | Part::Hidden(_) | Part::Label(_) => part.clone(),
            });
        }
        if !differs {
            return self.clone();
        }
        if self.kind() == TermKind::Unordered {
            // Text and operands alternate: only the operands change places.
            let mut operands: Vec<Term> = parts
                .iter()
                .filter_map(|part| match part {
                    Part::Term(term) => Some(term.clone()),
                    Part::Text(_) | Part::Hidden(_) | Part::Label(_) => None,
                })
                .collect();
            operands.sort_by_cached_key(Term::place_among_operands);
            let mut sorted = operands.into_iter();
            for part in &mut parts {
                if let Part::Term(term) = part
                    && let Some(next) = sorted.next()
                {
                    *term = next;
                }
            }
        }
        Term::of(self.kind(), parts)
    }

    /// This term with its children in another order; none where `order` does not name each of them once.
    pub fn reordered(&self, order: &[usize]) -> Option<Term> {
        let children: Vec<&Term> = self.children().collect();
        let named: HashSet<&usize> = order.iter().collect();
        if named.len() != children.len() || order.len() != children.len() {
            return None;
        }
        let mut moved = order.iter().filter_map(|index| children.get(*index).copied());
        let parts = self.0.parts.iter().map(|part| match part {
            Part::Term(_) => moved.next().cloned().map(Part::Term),
            Part::Text(_) | Part::Hidden(_) | Part::Label(_) => Some(part.clone()),
        });
        Some(Term::of(self.kind(), parts.collect::<Option<Vec<Part>>>()?))
    }

    /// This term over other sources: `rename` gives a source's new name.
    pub fn with_sources(&self, rename: &impl Fn(&str) -> Option<String>) -> Term {
        self.replaced(&mut |term| {
            let name = rename(term.source_name()?)?;
            let mut parts = term.0.parts.clone();
            *parts.first_mut()? = Part::Text(name.into());
            Some(Term::of(TermKind::Source, parts))
        })
    }

    /// What stands for a part that is not compared.
    pub fn hole() -> Term {
        Term::of(TermKind::Hole, vec![Part::Text("…".into())])
    }

    /// As people read it: columns without the name of the only source (or with its last part), intervals and windows in words,
    /// without outer parentheses.
    pub fn readable(&self, sources: &[String]) -> String {
        let text = self.printed(&Style::People { sources });
        without_parentheses(&text, self).to_owned()
    }

    fn printed(&self, style: &Style<'_>) -> String {
        let mut printer = Printer { out: String::new(), limit: MAX_TEXT, style };
        printer.term(self);
        if printer.out.len() > MAX_TEXT {
            let cut = printer.out.char_indices().map(|(at, _)| at).take_while(|at| *at <= 80).last().unwrap_or(0);
            return format!("{}…#{:016x}", printer.out.get(..cut).unwrap_or_default(), self.0.id.0 as u64);
        }
        printer.out
    }
}

/// `(a = b)` as `a = b`: the outer parentheses of a term that has some of its own.
fn without_parentheses<'t>(text: &'t str, term: &Term) -> &'t str {
    let own = term.first_text().is_some_and(|first| first.starts_with('('))
        && term.last_text().is_some_and(|last| last.ends_with(')'));
    let inner = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
    inner.filter(|_| own).unwrap_or(text)
}

impl PartialEq for Term {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for Term {}

impl std::hash::Hash for Term {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

impl Default for Term {
    fn default() -> Self {
        Term::plain("")
    }
}

/// The debugging form: everything that counts, sources by their full names.
impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.printed(&Style::Debug))
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for TermId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

enum Style<'a> {
    Debug,
    /// `sources`: full names of everything that is read on either side.
    People {
        sources: &'a [String],
    },
}

struct Printer<'a> {
    out: String,
    /// Printing ends soon after this many bytes.
    limit: usize,
    style: &'a Style<'a>,
}

impl Printer<'_> {
    fn term(&mut self, term: &Term) {
        if self.out.len() > self.limit {
            return;
        }
        let Style::People { sources } = self.style else { return self.parts(term) };
        match term.kind() {
            TermKind::Column => self.column(term, sources),
            TermKind::Interval(micros) => {
                self.out.push_str("INTERVAL ");
                self.out.push_str(&duration(micros).to_uppercase());
            }
            TermKind::TimeWindow | TermKind::SessionWindow => self.window(term),
            TermKind::Plain
            | TermKind::Literal
            | TermKind::Source
            | TermKind::Field
            | TermKind::Code
            | TermKind::Volatile
            | TermKind::Union
            | TermKind::Unordered
            | TermKind::Hole => self.parts(term),
        }
    }

    fn parts(&mut self, term: &Term) {
        for part in &term.0.parts {
            if self.out.len() > self.limit {
                return;
            }
            match part {
                Part::Text(text) | Part::Label(text) => self.out.push_str(text),
                Part::Hidden(text) if matches!(self.style, Style::Debug) && term.kind() == TermKind::Code => {
                    self.out.push('@');
                    self.out.push_str(text);
                }
                Part::Hidden(_) => {}
                Part::Term(term) => self.term(term),
            }
        }
    }

    fn column(&mut self, term: &Term, sources: &[String]) {
        let Some((source, name)) = term.column() else { return self.parts(term) };
        let full = source.source_name().unwrap_or_default();
        let numbered = source.0.parts.len() > 1;
        match sources {
            [only] if only == full && !numbered => {}
            _ if sources.iter().any(|known| known == full) && !numbered => {
                self.out.push_str(full.rsplit(['.', '/']).next().unwrap_or(full));
                self.out.push('.');
            }
            _ => {
                self.parts(source);
                self.out.push('.');
            }
        }
        self.out.push_str(name);
    }

    /// `window(ts, '1 hour')`: length in words, slide and start where they say something; `session_window(ts, '5 minutes')`.
    fn window(&mut self, term: &Term) {
        let arguments: Vec<&Term> = term.children().collect();
        let micros = |term: &Term| match term.kind() {
            TermKind::Interval(micros) => Some(micros),
            _ => None,
        };
        let shown = match arguments.as_slice() {
            [time, length, slide, start] if micros(start) == Some(0) && length == slide => vec![*time, *length],
            [time, length, slide, start] if micros(start) == Some(0) => vec![*time, *length, *slide],
            all => all.to_vec(),
        };
        self.out.push_str(term.first_text().unwrap_or_default());
        for (index, argument) in shown.into_iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            match micros(argument) {
                Some(micros) => self.out.push_str(&format!("'{}'", duration(micros))),
                None => self.term(argument),
            }
        }
        self.out.push(')');
    }
}

/// Microseconds in the largest unit that holds them whole.
pub fn duration(micros: i64) -> String {
    const UNITS: [(i64, &str); 6] = [
        (86_400_000_000, "day"),
        (3_600_000_000, "hour"),
        (60_000_000, "minute"),
        (1_000_000, "second"),
        (1_000, "millisecond"),
        (1, "microsecond"),
    ];
    let unit = UNITS.iter().find(|(size, _)| micros != 0 && micros % size == 0);
    let (count, name) = unit.map_or((micros, "second"), |(size, name)| (micros / size, *name));
    if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(source: &str, name: &str) -> Term {
        let source = TermBuilder::new(TermKind::Source).text(source).build();
        TermBuilder::new(TermKind::Column).term(source).text(".").text(name).build()
    }

    fn literal(text: &str) -> Term {
        TermBuilder::new(TermKind::Literal).text(text).build()
    }

    fn clean(content: &str, argument: Term) -> Term {
        let code = TermBuilder::new(TermKind::Code).text("clean").hidden(content).build();
        TermBuilder::new(TermKind::Plain).term(code).text("(").term(argument).text(")").build()
    }

    #[test]
    fn identity_is_the_tree_and_not_its_text() {
        assert_ne!(literal("'a, b'"), TermBuilder::new(TermKind::Plain).text("'a, b'").build());
        assert_ne!(clean("01", column("t", "x")), clean("02", column("t", "x")));
        let (a, b) = (column("t", "a"), literal("1"));
        assert_eq!(
            Term::unordered("(", vec![a.clone(), b.clone()], " + ", ")"),
            Term::unordered("(", vec![b, a], " + ", ")")
        );
    }

    #[test]
    fn people_read_short_names_and_no_hashes() {
        let names = ["main.s.t".to_owned()];
        let sum = Term::unordered("(", vec![column("main.s.t", "a"), literal("1")], " + ", ")");
        assert_eq!(sum.readable(&names), "a + 1");
        assert_eq!(clean("00ff", column("main.s.t", "x")).readable(&names), "clean(x)");
        let two = ["main.s.t".to_owned(), "main.s.u".to_owned()];
        assert_eq!(column("main.s.u", "id").readable(&two), "u.id");
    }

    #[test]
    fn other_sources_put_operands_in_their_own_order_again() {
        let sum = |x: &str, y: &str| Term::unordered("(", vec![column(x, "v"), column(y, "v")], " + ", ")");
        let renamed = sum("b", "c").with_sources(&|name| (name == "b").then(|| "z".to_owned()));
        assert_eq!(renamed, sum("z", "c"));
    }

    #[test]
    fn a_tree_that_doubles_itself_is_printed_short_and_searched_once() {
        let mut term = column("t", "x");
        for _ in 0..60 {
            term = Term::unordered("(", vec![term.clone(), term], " + ", ")");
        }
        assert!(term.to_string().len() < 10_000);
        assert!(term.contains(&column("t", "x")) && !term.contains(&column("t", "y")));
    }

    #[test]
    fn durations_read_in_whole_units() {
        assert_eq!(duration(600_000_000), "10 minutes");
        assert_eq!(duration(90_000_000), "90 seconds");
        assert_eq!(duration(86_400_000_000), "1 day");
    }
}
