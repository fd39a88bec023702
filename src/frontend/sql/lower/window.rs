//! Window functions: `f(…) OVER (PARTITION BY … ORDER BY … ROWS BETWEEN …)`.

use super::Lowering;
use crate::model::{Expr, Frame, FrameBound, WindowSpec};
use sqlparser::ast;

impl Lowering<'_> {
    pub(super) fn named_window(&self, name: &str) -> Option<&ast::WindowSpec> {
        let name = name.to_lowercase();
        self.windows.iter().find(|(window, _)| *window == name).map(|(_, spec)| spec)
    }

    pub(super) fn over(&mut self, call: Expr, window: &ast::WindowType) -> Expr {
        let spec = match window {
            ast::WindowType::WindowSpec(spec) => spec.clone(),
            ast::WindowType::NamedWindow(name) => match self.named_window(&name.value) {
                Some(spec) => spec.clone(),
                None => {
                    self.unsupported(
                        &format!("the window `{}`, which no WINDOW clause defines", name.value),
                        name.span,
                    );
                    return call;
                }
            },
        };
        let base = spec.window_name.as_ref().and_then(|name| self.named_window(&name.value)).cloned();
        let merged = match base {
            Some(base) => ast::WindowSpec {
                partition_by: [base.partition_by, spec.partition_by].concat(),
                order_by: [base.order_by, spec.order_by].concat(),
                window_frame: spec.window_frame.or(base.window_frame),
                window_name: None,
            },
            None => spec,
        };
        let spec = WindowSpec {
            partition_by: merged.partition_by.iter().map(|expr| self.expression(expr)).collect(),
            order_by: merged.order_by.iter().map(|key| self.sort_key(key, None)).collect(),
            frame: merged.window_frame.as_ref().map(|frame| self.frame(frame)),
        };
        Expr::Window { call: Box::new(call), spec }
    }

    fn frame(&mut self, frame: &ast::WindowFrame) -> Frame {
        let start = self.frame_bound(&frame.start_bound);
        let end = frame.end_bound.as_ref().map_or(FrameBound::CurrentRow, |bound| self.frame_bound(bound));
        Frame { rows: matches!(frame.units, ast::WindowFrameUnits::Rows), start, end }
    }

    fn frame_bound(&mut self, bound: &ast::WindowFrameBound) -> FrameBound {
        match bound {
            ast::WindowFrameBound::CurrentRow => FrameBound::CurrentRow,
            ast::WindowFrameBound::Preceding(None) => FrameBound::UnboundedPreceding,
            ast::WindowFrameBound::Following(None) => FrameBound::UnboundedFollowing,
            ast::WindowFrameBound::Preceding(Some(expr)) => FrameBound::Preceding(Box::new(self.expression(expr))),
            ast::WindowFrameBound::Following(Some(expr)) => FrameBound::Following(Box::new(self.expression(expr))),
        }
    }
}
