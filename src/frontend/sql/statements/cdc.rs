//! `AUTO CDC` and its older name, `APPLY CHANGES`.

use super::{Read, Statement, StatementReader, split_commas, unquoted};
use crate::frontend::sql::cursor::Cursor;
use crate::frontend::sql::tokens::Lexeme;
use crate::model::{CdcSpec, ColumnSelection, Expr, Flow, FlowKind, Node, Place, Plan, QualifiedName, ScdType};
use sqlparser::tokenizer::Token;

/// Words that start a clause, and so end the expression before them.
const CLAUSES: [&[&str]; 11] = [
    &["from"],
    &["keys"],
    &["where"],
    &["ignore", "null"],
    &["apply", "as"],
    &["sequence", "by"],
    &["columns"],
    &["column"],
    &["stored", "as"],
    &["track", "history"],
    &["on", "schema"],
];

pub(super) struct AutoCdc {
    pub once: bool,
    pub target: Option<QualifiedName>,
    source: Plan,
    spec: CdcSpec,
}

fn at_clause(cursor: &Cursor) -> bool {
    CLAUSES.iter().any(|words| cursor.at_words(words))
}

impl<'a> StatementReader<'a> {
    pub(super) fn at_cdc(&self) -> bool {
        self.cursor.at_words(&["auto", "cdc"]) || self.cursor.at_words(&["apply", "changes"])
    }

    /// `APPLY CHANGES INTO t …` as a statement: the flow is named as the target.
    pub(super) fn apply_changes(&mut self) -> Read<Statement> {
        let start = self.cursor.index();
        let head = self.cursor.clone();
        let cdc = self.auto_cdc(&Place::unknown())?;
        let target = cdc.target.clone().ok_or_else(|| self.unexpected("INTO and the target table"))?;
        let length = 3 + target.parts().count() * 2;
        let place = self.place_of(head.rest().get(start..length.min(head.rest().len())).unwrap_or_default());
        self.only_on_lakeflow("APPLY CHANGES INTO", &place);
        let (name, once) = (target.name.clone(), cdc.once);
        Ok(Statement::Flow(Box::new(self.cdc_flow(cdc, name, target, once, &place))))
    }

    pub(super) fn cdc_flow(
        &self,
        cdc: AutoCdc,
        name: String,
        target: QualifiedName,
        once: bool,
        place: &Place,
    ) -> Flow {
        let spec = Box::new(cdc.spec);
        let kind = if once { FlowKind::AutoCdcOnce(spec) } else { FlowKind::AutoCdc(spec) };
        self.flow(name, target, kind, cdc.source, place)
    }

    /// `AUTO CDC [ONCE] [INTO t] FROM source KEYS (…) …`; the clauses in any order.
    pub(super) fn auto_cdc(&mut self, place: &Place) -> Read<AutoCdc> {
        if !self.cursor.take_words(&["auto", "cdc"]) {
            self.expect_words(&["apply", "changes"])?;
        }
        let mut once = self.cursor.take_word("once");
        let mut target = None;
        if self.cursor.take_word("into") {
            once |= self.cursor.take_word("once");
            target = Some(self.target_name()?);
        }
        let mut spec = CdcSpec {
            keys: Vec::new(),
            sequence_by: None,
            apply_as_deletes: None,
            apply_as_truncates: None,
            ignore_null_updates: false,
            columns: ColumnSelection::All,
            scd_type: ScdType::One,
            track_history: ColumnSelection::All,
            from_snapshot: false,
        };
        let mut source: Option<Plan> = None;
        let mut condition: Option<&'a [Lexeme]> = None;
        while !self.cursor.at_end() {
            if self.cursor.take_word("from") {
                let tokens = self.cursor.take_until(at_clause);
                source = Some(self.relation(tokens));
            } else if self.cursor.take_word("where") {
                condition = Some(self.cursor.take_until(at_clause));
            } else if !self.cdc_clause(&mut spec)? {
                self.unknown_clause(at_clause);
            }
        }
        if spec.ignore_null_updates {
            self.only_on_lakeflow("IGNORE NULL UPDATES", place);
        }
        if spec.apply_as_truncates.is_some() {
            self.only_on_lakeflow("APPLY AS TRUNCATE WHEN", place);
        }
        if spec.keys.is_empty() {
            return Err(self.unexpected("KEYS (…)"));
        }
        let source = source.ok_or_else(|| self.unexpected("FROM and the source"))?;
        let source = match condition {
            Some(tokens) => {
                let place = self.place_of(tokens);
                let condition = self.expression(tokens);
                Plan::at(Node::Filter { condition, input: Box::new(source) }, place)
            }
            None => source,
        };
        Ok(AutoCdc { once, target, source, spec })
    }

    fn cdc_clause(&mut self, spec: &mut CdcSpec) -> Read<bool> {
        if self.cursor.take_word("keys") {
            let inner = self.expect_parenthesized("the keys")?;
            spec.keys = split_commas(inner).into_iter().map(|key| self.expression(key)).collect();
        } else if self.cursor.take_words(&["ignore", "null", "updates"]) {
            spec.ignore_null_updates = true;
        } else if self.cursor.take_words(&["apply", "as", "delete", "when"]) {
            spec.apply_as_deletes = Some(self.clause_expression());
        } else if self.cursor.take_words(&["apply", "as", "truncate", "when"]) {
            spec.apply_as_truncates = Some(self.clause_expression());
        } else if self.cursor.take_words(&["sequence", "by"]) {
            spec.sequence_by = Some(self.clause_expression());
        } else if self.cursor.take_words(&["stored", "as"]) {
            let _ = self.cursor.take_words(&["scd", "type"]) || self.cursor.take_word("scd");
            spec.scd_type = self.scd_type()?;
        } else if self.cursor.take_words(&["track", "history", "on"]) {
            spec.track_history = self.column_selection()?;
        } else if self.cursor.take_word("columns") {
            spec.columns = self.column_selection()?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn clause_expression(&mut self) -> Expr {
        let tokens = self.cursor.take_until(at_clause);
        self.expression(tokens)
    }

    fn scd_type(&mut self) -> Read<ScdType> {
        let scd_type = match self.cursor.peek() {
            Some(Token::Number(digits, _)) if digits == "1" => ScdType::One,
            Some(Token::Number(digits, _)) if digits == "2" => ScdType::Two,
            _ => return Err(self.unexpected("SCD TYPE 1 or 2")),
        };
        self.cursor.advance();
        Ok(scd_type)
    }

    /// `(a, b)`, `*`, `* EXCEPT (a, b)`, `ALL`, or bare names.
    fn column_selection(&mut self) -> Read<ColumnSelection> {
        if self.cursor.take(&Token::Mul) || self.cursor.take_word("all") {
            if !self.cursor.take_word("except") {
                return Ok(ColumnSelection::All);
            }
            let inner = self.expect_parenthesized("columns")?;
            return Ok(ColumnSelection::Except(self.column_names(inner)));
        }
        let tokens = match self.cursor.take_parenthesized() {
            Some(inner) => inner,
            None => self.cursor.take_until(at_clause),
        };
        let names = split_commas(tokens).iter().map(|item| unquoted(&self.cursor.text_of(item))).collect();
        Ok(ColumnSelection::Only(names))
    }
}
