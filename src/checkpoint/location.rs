//! Which flow a checkpoint folder belongs to, as far as its path says.

use crate::model::QualifiedName;

/// A checkpoint's place below the folder that was read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// With `/`; the folder itself is the empty text.
    pub path: String,
    /// The last parts of the path, the folder that was read included.
    parts: Vec<String>,
}

impl Location {
    /// `root` is the path of the folder that was read, as far as it is known.
    pub fn new(root: &str, path: &str) -> Self {
        let full = format!("{}/{path}", root.replace('\\', "/"));
        let parts = full.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect();
        Location { path: path.to_owned(), parts }
    }

    /// The number of the checkpoint among those of its flow: each full refresh begins another one.
    pub fn generation(&self) -> Option<u64> {
        self.is_of_pipeline().then(|| self.parts.last()?.parse().ok()).flatten()
    }

    /// The path without the number of the checkpoint.
    pub fn flow_folder(&self) -> String {
        let known = if self.generation().is_some() { self.parts.len().saturating_sub(1) } else { self.parts.len() };
        self.parts.get(..known).unwrap_or_default().join("/")
    }

    /// It lies below a pipeline's storage (`_checkpoints/…/{table}/{flow}/{n}`).
    pub fn is_of_pipeline(&self) -> bool {
        self.parts.iter().any(|part| part == "_checkpoints")
    }

    /// How many parts of `{catalog}/{schema}/{table}/{flow}` the path ends with; none where table and flow are not both there.
    /// Letter case counts, as it does in a folder's name.
    pub fn match_flow(&self, target: &QualifiedName, flow: &str) -> Option<usize> {
        let mut own = self.parts.iter().rev().skip(usize::from(self.generation().is_some()));
        // A flow without a name of its own is named as its table, with or without catalog and schema.
        let table = target.parts().last().unwrap_or_default();
        let short = flow.rsplit('.').next().unwrap_or(flow);
        let last = own.next()?;
        if last != flow && last != short {
            return None;
        }
        if own.next()? != table {
            return None;
        }
        let names: Vec<&str> = target.parts().collect();
        let further = names.iter().rev().skip(1).zip(own).take_while(|(name, part)| *name == part).count();
        Some(2 + further)
    }

    /// A folder of its path is named as this table.
    pub fn names_table(&self, table: &str) -> bool {
        self.parts.iter().rev().take(3).any(|part| part == table)
    }

    /// How many last parts it has in common with the checkpoint path of a query; none where the last differs.
    pub fn match_path(&self, checkpoint: &str) -> Option<usize> {
        let path = checkpoint.split_once("://").map_or(checkpoint, |(_, rest)| rest);
        let parts: Vec<&str> = path.split(['/', ':']).filter(|part| !part.is_empty() && *part != ".").collect();
        let common = self.parts.iter().rev().zip(parts.iter().rev()).take_while(|(own, other)| own == *other).count();
        (common > 0).then_some(common)
    }
}
