//! What happens to one flow: claimed by rules, observed by an engine.

use crate::confirm::FlowConfirmation;
use crate::diff::FlowStatus;
use crate::model::{Effect, Field, FullRefresh, QualifiedName, Span};

/// What happens to one flow.
#[derive(Debug, Clone)]
pub struct FlowVerdict {
    /// Key of the pipeline.
    pub pipeline: String,
    pub flow: String,
    pub dataset: QualifiedName,
    pub status: FlowStatus,
    /// What its findings claim, or what the engine observed where they leave it to the engine; the worse one where the two differ.
    pub effect: Effect,
    /// Its rules leave the effect to an engine and claim nothing themselves.
    pub left_to_engine: bool,
    /// The same without the findings that somebody accepted: what counts for the headline.
    pub open: Effect,
    pub full_refresh: FullRefresh,
    /// None for an unchanged flow that nothing concerns.
    pub confirmation: Option<Confirmation>,
    /// The engine that `confirmation` is of.
    pub engine: EngineName,
    /// What Apache Spark says beside the mini engine, where it was asked.
    pub spark: Option<SparkVerdict>,
    /// Indices into the report's findings.
    pub findings: Vec<usize>,
    pub before: Option<Span>,
    pub after: Option<Span>,
}

/// The two meanings of effect `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Equality {
    /// Both revisions are proven equal, or a rule says why the difference does not matter.
    Same,
    /// An engine ran both on rows, and the tables came out equal.
    NoDifferenceSeen,
}

impl Equality {
    pub fn as_str(self) -> &'static str {
        match self {
            Equality::Same => "same",
            Equality::NoDifferenceSeen => "no-difference-seen",
        }
    }
}

impl FlowVerdict {
    /// What is meant by `none`; nothing for another effect.
    pub fn equality(&self) -> Option<Equality> {
        match (self.effect, self.status) {
            (Effect::None, FlowStatus::Changed) if self.left_to_engine || self.findings.is_empty() => {
                Some(Equality::NoDifferenceSeen)
            }
            (Effect::None, _) => Some(Equality::Same),
            _ => None,
        }
    }

    /// Whether the engine bears out what is said of it.
    pub fn agrees(&self) -> Option<bool> {
        self.confirmation.as_ref().and_then(Confirmation::agrees)
    }

    /// Somebody accepted what happens to it.
    pub fn is_accepted(&self) -> bool {
        self.open != self.effect
    }

    /// The claim and the observation of it, where they differ.
    pub fn contradiction(&self) -> Option<Contradiction> {
        self.confirmations().find_map(|(_, confirmation)| confirmation.contradiction())
    }

    /// Lets the worse of claim and observation count, and calls nothing unchanged that something happens to.
    pub fn settle(&mut self) {
        if let Some(contradiction) = self.contradiction() {
            self.effect = self.effect.max(contradiction.believed());
            self.open = self.open.max(contradiction.believed());
        }
        if self.status == FlowStatus::Unchanged && self.effect != Effect::None {
            self.status = FlowStatus::Changed;
        }
    }

    /// Something happens to it, or is said of it.
    pub fn is_affected(&self) -> bool {
        self.effect != Effect::None || !self.findings.is_empty() || self.agrees() == Some(false)
    }

    /// What the engines have to say, in a few words; loudly where they do not agree.
    pub fn evidence(&self) -> String {
        self.evidence_in(&mut Confirmation::evidence)
    }

    /// The same, each confirmation in words of the caller.
    pub fn evidence_in(&self, words: &mut dyn FnMut(&Confirmation) -> String) -> String {
        let first = self.confirmation.as_ref().map(&mut *words).unwrap_or_default();
        let Some(spark) = &self.spark else {
            return match self.engine {
                EngineName::Mini => first,
                EngineName::Spark => format!("Apache Spark: {first}"),
            };
        };
        let second = words(&spark.confirmation);
        match spark.disagreement() {
            Some(disagreement) => format!("{disagreement} · mini: {first} · Apache Spark: {second}"),
            None => format!("mini: {first} · Apache Spark: {second}"),
        }
    }

    /// Every engine's confirmation.
    pub fn confirmations(&self) -> impl Iterator<Item = (EngineName, &Confirmation)> {
        let first = self.confirmation.iter().map(|confirmation| (self.engine, confirmation));
        first.chain(self.spark.iter().map(|spark| (EngineName::Spark, &spark.confirmation)))
    }

    /// The table, and the flow where it has a name of its own.
    pub fn subject(&self) -> String {
        let dataset = self.dataset.to_string();
        if self.flow.eq_ignore_ascii_case(&self.dataset.name) || self.flow.eq_ignore_ascii_case(&dataset) {
            dataset
        } else {
            format!("{dataset} (flow {})", self.flow)
        }
    }
}

/// Columns as a DDL schema lists them.
pub fn column_list(columns: &[Field]) -> String {
    let column = |field: &Field| format!("{} {}", quoted(&field.name), field.data_type.to_string().to_uppercase());
    columns.iter().map(column).collect::<Vec<_>>().join(", ")
}

fn quoted(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain { name.to_owned() } else { format!("`{}`", name.replace('`', "``")) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EngineName {
    #[default]
    Mini,
    Spark,
}

impl EngineName {
    pub fn as_str(self) -> &'static str {
        match self {
            EngineName::Mini => "mini",
            EngineName::Spark => "spark",
        }
    }
}

/// What Apache Spark says of a flow, and whether the mini engine, set up the same way, says so too.
#[derive(Debug, Clone)]
pub struct SparkVerdict {
    pub confirmation: Confirmation,
    /// None where one of them saw nothing.
    pub engines_agree: Option<bool>,
    pub mini: Option<Effect>,
    pub real: Option<Effect>,
}

impl SparkVerdict {
    fn disagreement(&self) -> Option<String> {
        let word = |effect: Option<Effect>| effect.map_or("nothing", Effect::as_str);
        let text = || format!("ENGINES DISAGREE: mini {}, Apache Spark {}", word(self.mini), word(self.real));
        (self.engines_agree == Some(false)).then(text)
    }
}

/// A claim that an engine does not bear out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contradiction {
    pub claimed: Effect,
    pub observed: Effect,
    /// The observation rests on functions that the engine does not implement.
    uninterpreted: bool,
}

impl Contradiction {
    /// The effect to count with.
    pub fn believed(self) -> Effect {
        match self.observed > self.claimed {
            true if self.uninterpreted => self.claimed.max(Effect::Unknown),
            true => self.observed,
            false => self.claimed,
        }
    }

    /// Which of the two counts, and why.
    pub fn reason(self) -> &'static str {
        match self.observed > self.claimed {
            true if self.uninterpreted => "it does not implement every function of the query, so this cannot be told",
            true => "it ran the change, and what it saw counts",
            false => "the claim counts: rows need not show everything",
        }
    }
}

/// What an engine observed of a flow, next to what the rules claim.
#[derive(Debug, Clone)]
pub enum Confirmation {
    NotRun {
        reason: String,
    },
    Ran {
        run: Box<FlowConfirmation>,
        claimed: Effect,
        /// None where the engine could observe nothing, or where what it saw follows from a table upstream.
        agrees: Option<bool>,
        /// The table upstream whose changed rows explain an observation that no finding of this flow claims.
        follows_from: Option<String>,
    },
}

impl Confirmation {
    pub fn not_run(reason: &str) -> Self {
        Confirmation::NotRun { reason: reason.to_owned() }
    }

    /// Compares what was observed with what is claimed.
    pub fn ran(run: FlowConfirmation, claimed: Effect) -> Self {
        let agrees = run.observed.and_then(|observed| same_outcome(claimed, observed));
        Confirmation::Ran { run: Box::new(run), claimed, agrees, follows_from: None }
    }

    pub fn contradiction(&self) -> Option<Contradiction> {
        let Confirmation::Ran { run, claimed, agrees: Some(false), .. } = self else { return None };
        let uninterpreted = !run.uninterpreted.is_empty();
        Some(Contradiction { claimed: *claimed, observed: run.observed?, uninterpreted })
    }

    /// Nothing was observed, because a flow that it reads from fails.
    pub fn was_stopped(&self) -> bool {
        matches!(self, Confirmation::Ran { run, .. } if run.observed.is_none() && run.stopped_by.is_some())
    }

    /// Takes an unclaimed observation as the consequence of what happens upstream: no contradiction of this flow's claim.
    pub fn explained_by(&mut self, upstream: &str) {
        if let Confirmation::Ran { agrees, follows_from, .. } = self {
            *agrees = None;
            *follows_from = Some(upstream.to_owned());
        }
    }

    /// Why no engine bears the claim out or contradicts it.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Confirmation::NotRun { reason } => Some(reason),
            Confirmation::Ran { agrees: Some(_), .. } | Confirmation::Ran { follows_from: Some(_), .. } => None,
            Confirmation::Ran { run, .. } if run.observed.is_some() => Some("the deployment does it, not an update"),
            Confirmation::Ran { run, .. } => Some(run.reason.as_deref().unwrap_or("the engine could not say")),
        }
    }

    /// What an engine has to say, in a few words.
    pub fn evidence(&self) -> String {
        if let Some(reason) = self.reason() {
            return format!("not run: {reason}");
        }
        match self {
            Confirmation::Ran { run, follows_from: Some(upstream), .. } => match run.observed {
                Some(observed) => format!("seen as {observed}, because of {upstream}"),
                None => format!("follows from {upstream}"),
            },
            Confirmation::Ran { run, agrees: Some(true), .. } => {
                let rows = if run.seed.is_some() { "generated" } else { "the given" };
                let types = if run.inferred.is_empty() { "" } else { ", types inferred" };
                let old = if run.old_rows.is_some_and(|rows| rows > 0) { "; reads old rows too" } else { "" };
                match (run.observed, run.rows) {
                    (Some(Effect::None), 0) => format!("no difference seen on {rows} rows{types}{old}"),
                    (Some(Effect::None), count) => {
                        format!("no difference seen on {rows} rows ({count} in the table){types}{old}")
                    }
                    _ => format!("seen on {rows} rows{types}{old}"),
                }
            }
            Confirmation::Ran { run, .. } => {
                let observed = run.observed.map_or("no rows", Effect::as_str);
                let reason = self.contradiction().map_or("", Contradiction::reason);
                format!("CONTRADICTED: the engine saw {observed}; {reason}")
            }
            Confirmation::NotRun { reason } => format!("not run: {reason}"),
        }
    }

    pub fn agrees(&self) -> Option<bool> {
        match self {
            Confirmation::NotRun { .. } => None,
            Confirmation::Ran { agrees, .. } => *agrees,
        }
    }
}

/// Whether an observation bears a claim out; none where the experiment cannot tell: what a deployment does with whole tables
/// (left behind, deleted) happens outside of updates.
///
/// An ignored edit leaves the table as a full refresh would make it only by chance: an engine sees `none` or old rows that differ.
fn same_outcome(claimed: Effect, observed: Effect) -> Option<bool> {
    match (claimed, observed) {
        _ if claimed == observed => Some(true),
        (Effect::Orphaned | Effect::Dropped | Effect::Unknown, _) | (_, Effect::Unknown) => None,
        (Effect::Ignored, Effect::None | Effect::Mixed) => Some(true),
        // Computed anew, with the rows that were there.
        (Effect::Recomputed, Effect::None) => Some(true),
        _ => Some(false),
    }
}
