//! Types to be found: variables that are united where two columns are one, and what uses tell of each.

use crate::functions;
use crate::model::{DataType, Field};
use std::collections::BTreeMap;

/// A type that is not declared; an index into [`Variables`].
pub(super) type Variable = usize;

/// How much a use tells. The heaviest evidence of a variable decides, lighter one is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// Many types would do: an argument that is cast to text, a text literal that is a date.
    Hint,
    /// The type of what it is compared with, or joined to.
    Partner,
    /// An argument, an operand, a literal beside it.
    Use,
    /// What the format gives: Auto Loader reads JSON and CSV as text.
    Format,
    /// No other type would be valid there: event time, a condition, a struct whose field is read.
    Needed,
    /// Said of the same column at another place.
    Declared,
}

#[derive(Debug, Default, Clone)]
struct Class {
    /// Itself, or a variable that it was united with.
    parent: Variable,
    evidence: Vec<(Weight, DataType)>,
    /// Fields that are read, by lower-case name, with the name as it is written.
    fields: BTreeMap<String, (String, Variable)>,
    /// What it holds, where it is exploded or indexed by number.
    element: Option<Variable>,
    /// What it holds, where it is indexed by text.
    value: Option<Variable>,
    /// Cast to a string and nothing else: then it is none.
    shown: bool,
}

/// Structs in structs, and arrays in them.
const DEPTH_LIMIT: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Variables {
    classes: Vec<Class>,
    /// Compared with each other: the type of one is evidence for the other.
    partners: Vec<(Variable, Variable)>,
}

impl Variables {
    pub fn fresh(&mut self) -> Variable {
        let parent = self.classes.len();
        self.classes.push(Class { parent, ..Class::default() });
        parent
    }

    fn root(&self, mut variable: Variable) -> Variable {
        while let Some(class) = self.classes.get(variable) {
            if class.parent == variable {
                break;
            }
            variable = class.parent;
        }
        variable
    }

    /// The two are one type from now on.
    pub fn unite(&mut self, a: Variable, b: Variable) {
        let mut pending = vec![(a, b)];
        while let Some((a, b)) = pending.pop() {
            let (into, from) = (self.root(a), self.root(b));
            if into == from {
                continue;
            }
            let Some(class) = self.classes.get_mut(from) else { continue };
            let taken = std::mem::replace(class, Class { parent: into, ..Class::default() });
            let Some(kept) = self.classes.get_mut(into) else { continue };
            kept.evidence.extend(taken.evidence);
            kept.shown |= taken.shown;
            for (slot, other) in [(&mut kept.element, taken.element), (&mut kept.value, taken.value)] {
                match (*slot, other) {
                    (Some(a), Some(b)) => pending.push((a, b)),
                    (None, other) => *slot = other,
                    (Some(_), None) => {}
                }
            }
            for (key, (name, field)) in taken.fields {
                match kept.fields.get(&key) {
                    Some((_, known)) => pending.push((*known, field)),
                    None => {
                        kept.fields.insert(key, (name, field));
                    }
                }
            }
        }
    }

    fn class(&mut self, variable: Variable) -> Option<&mut Class> {
        let root = self.root(variable);
        self.classes.get_mut(root)
    }

    pub fn tell(&mut self, variable: Variable, weight: Weight, data_type: DataType) {
        if let Some(class) = self.class(variable)
            && !matches!(data_type, DataType::Unknown | DataType::Null)
            && !class.evidence.iter().any(|known| known.0 == weight && known.1 == data_type)
        {
            class.evidence.push((weight, data_type));
        }
    }

    pub fn show(&mut self, variable: Variable) {
        if let Some(class) = self.class(variable) {
            class.shown = true;
        }
    }

    pub fn compare(&mut self, a: Variable, b: Variable) {
        self.partners.push((a, b));
    }

    pub fn field(&mut self, variable: Variable, name: &str) -> Variable {
        let fresh = self.fresh();
        let Some(class) = self.class(variable) else { return fresh };
        class.fields.entry(name.to_lowercase()).or_insert_with(|| (name.to_owned(), fresh)).1
    }

    pub fn element(&mut self, variable: Variable) -> Variable {
        let fresh = self.fresh();
        self.class(variable).map_or(fresh, |class| *class.element.get_or_insert(fresh))
    }

    pub fn value(&mut self, variable: Variable) -> Variable {
        let fresh = self.fresh();
        self.class(variable).map_or(fresh, |class| *class.value.get_or_insert(fresh))
    }

    /// Lets types that are known now count for what they are compared with.
    pub fn pass_to_partners(&mut self) {
        for (a, b) in self.partners.clone() {
            for (from, to) in [(a, b), (b, a)] {
                if let Some(known) = self.decided(from, 0) {
                    self.tell(to, Weight::Partner, known);
                }
            }
        }
    }

    /// The type that its uses ask for; text where they ask for nothing.
    pub fn solve(&self, variable: Variable) -> DataType {
        self.solve_within(variable, 0)
    }

    fn solve_within(&self, variable: Variable, depth: usize) -> DataType {
        let shown = || self.classes.get(self.root(variable)).is_some_and(|class| class.shown);
        // Nobody casts text to text.
        self.decided(variable, depth).unwrap_or_else(|| if shown() { DataType::Long } else { DataType::String })
    }

    fn decided(&self, variable: Variable, depth: usize) -> Option<DataType> {
        let class = self.classes.get(self.root(variable))?;
        if depth > DEPTH_LIMIT {
            return None;
        }
        let heaviest = class.evidence.iter().map(|(weight, _)| *weight).max();
        if heaviest < Some(Weight::Declared) {
            if let Some(element) = class.element {
                return Some(DataType::array(self.solve_within(element, depth + 1)));
            }
            if let Some(value) = class.value {
                return Some(DataType::map(DataType::String, self.solve_within(value, depth + 1)));
            }
            if !class.fields.is_empty() {
                let fields = class.fields.values();
                let solved = fields.map(|(name, field)| Field::new(name.clone(), self.solve_within(*field, depth + 1)));
                return Some(DataType::Struct(solved.collect()));
            }
        }
        let weighty = class.evidence.iter().filter(|(weight, _)| Some(*weight) == heaviest);
        weighty.map(|(_, data_type)| data_type.clone()).reduce(|a, b| together(&a, &b))
    }
}

/// A type that serves two uses: the wider one; text where one of them is text.
fn together(a: &DataType, b: &DataType) -> DataType {
    match (a, b) {
        (DataType::String, _) | (_, DataType::String) => DataType::String,
        _ => functions::wider_type(a, b).unwrap_or_else(|| a.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_evidence_decides_and_equals_widen() {
        let mut variables = Variables::default();
        let (a, b) = (variables.fresh(), variables.fresh());
        variables.tell(a, Weight::Hint, DataType::String);
        variables.tell(a, Weight::Use, DataType::Long);
        variables.tell(b, Weight::Use, DataType::Double);
        variables.unite(a, b);
        assert_eq!(variables.solve(a), DataType::Double);
        variables.tell(b, Weight::Needed, DataType::Timestamp);
        assert_eq!(variables.solve(a), DataType::Timestamp);
    }

    #[test]
    fn what_is_read_of_a_column_makes_its_shape() {
        let mut variables = Variables::default();
        let (a, b) = (variables.fresh(), variables.fresh());
        let item = variables.element(a);
        let price = variables.field(item, "Price");
        variables.tell(price, Weight::Use, DataType::Double);
        let other = variables.element(b);
        let _ = variables.field(other, "sku");
        variables.unite(a, b);
        let item = DataType::Struct(vec![Field::new("Price", DataType::Double), Field::new("sku", DataType::String)]);
        assert_eq!(variables.solve(b), DataType::array(item));
    }

    #[test]
    fn a_partner_tells_its_type_where_nothing_else_does() {
        let mut variables = Variables::default();
        let (a, b) = (variables.fresh(), variables.fresh());
        variables.compare(a, b);
        variables.tell(b, Weight::Use, DataType::Long);
        variables.pass_to_partners();
        assert_eq!(variables.solve(a), DataType::Long);
    }
}
