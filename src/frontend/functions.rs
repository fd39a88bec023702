//! Functions that a pipeline's own code defines and its queries call by name: `spark.udf.register`, `CREATE FUNCTION`.
//!
//! A query names such a function in SQL text, in whatever file. What it computes is its code: a call takes the content of the code
//! over, so that an edit of a function is an edit of every query that calls it.

use crate::model::{Expr, Opaque, Pipeline};
use std::collections::BTreeMap;

/// Puts the definitions in place of the calls of a pipeline's queries. Of two definitions of one name both count: which one a session
/// has depends on the order of its files.
pub fn bind(pipeline: &mut Pipeline, functions: Vec<Opaque>) {
    let mut by_name: BTreeMap<String, Opaque> = BTreeMap::new();
    for function in functions {
        let name = function.name.to_lowercase();
        match by_name.get_mut(&name) {
            Some(known) if known.content != function.content => {
                known.content = known.content.rotate_left(1) ^ function.content;
                known.code.extend(function.code);
            }
            Some(_) => {}
            None => {
                by_name.insert(name, function);
            }
        }
    }
    if by_name.is_empty() {
        return;
    }
    for flow in &mut pipeline.flows {
        super::rewrite::replace_in_plan(&mut flow.plan, &|expr| defined(expr, &by_name));
    }
}

fn defined(expr: &Expr, functions: &BTreeMap<String, Opaque>) -> Option<Expr> {
    let Expr::Call(call) = expr else { return None };
    let function = functions.get(call.function.as_ref())?;
    let replaced = |arg: &Expr| super::rewrite::replace(arg.clone(), &|expr| defined(expr, functions));
    Some(Expr::Opaque(Opaque { args: call.args.iter().map(replaced).collect(), ..function.clone() }))
}
