//! Schema files of state stores (`SchemaHelper`): versions 1 and 2 of one store, version 3 with all column families of an
//! operator.

use super::data_type;
use super::log::{Fault, damaged, version};
use crate::model::Schema;

/// The newest version of these files.
const NEWEST: u32 = 3;

/// Key and value of a store, or of a column family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSchema {
    /// None in files of one store: their folder names it.
    pub family: Option<String>,
    pub key: Schema,
    pub value: Schema,
}

pub fn parse(bytes: &[u8]) -> Result<Vec<StoredSchema>, Fault> {
    let mut input = Input { rest: bytes };
    let schemas = match version(&input.text()?, NEWEST)? {
        1 => vec![StoredSchema { family: None, key: schema(&input.text()?)?, value: schema(&input.text()?)? }],
        2 => vec![StoredSchema { family: None, key: schema(&input.chunks()?)?, value: schema(&input.chunks()?)? }],
        _ => {
            let count = input.count()?;
            (0..count).map(|_| input.family()).collect::<Result<_, _>>()?
        }
    };
    if !input.rest.is_empty() {
        return Err(damaged(format!("{} bytes follow after its end", input.rest.len())));
    }
    Ok(schemas)
}

fn schema(text: &str) -> Result<Schema, Fault> {
    data_type::schema(text).map_err(damaged)
}

/// Java's `DataInput`.
struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(|| damaged("it is cut off"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn number(&mut self, bytes: usize) -> Result<usize, Fault> {
        Ok(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// How many parts follow, each of which has two bytes at least.
    fn count(&mut self) -> Result<usize, Fault> {
        let count = self.number(4)?;
        if count > self.rest.len() / 2 { Err(damaged("it is cut off")) } else { Ok(count) }
    }

    /// `readUTF`: the length in two bytes. Spark's own texts are JSON; of Java's form of UTF-8 only the NUL and characters
    /// outside of the basic plane differ.
    fn text(&mut self) -> Result<String, Fault> {
        let length = self.number(2)?;
        let bytes = self.take(length)?;
        String::from_utf8(bytes.to_vec()).or_else(|_| modified_utf8(bytes).ok_or_else(|| damaged("it holds no text")))
    }

    fn chunks(&mut self) -> Result<String, Fault> {
        let count = self.count()?;
        (0..count).map(|_| self.text()).collect()
    }

    /// Its name, the schemas each after its number, how keys are encoded, and the encoder of a user's key.
    fn family(&mut self) -> Result<StoredSchema, Fault> {
        let family = self.text()?;
        self.number(2)?;
        let key = schema(&self.chunks()?)?;
        self.number(2)?;
        let value = schema(&self.chunks()?)?;
        self.chunks()?;
        self.chunks()?;
        Ok(StoredSchema { family: Some(family), key, value })
    }
}

/// Characters in pairs of surrogates of three bytes each, NUL in two bytes.
fn modified_utf8(bytes: &[u8]) -> Option<String> {
    let mut units = Vec::new();
    let mut rest = bytes.iter().map(|byte| u16::from(*byte));
    let mut next = |first: bool| rest.next().filter(|byte| first || byte & 0xc0 == 0x80);
    while let Some(byte) = next(true) {
        units.push(match byte {
            0..=0x7f => byte,
            0xc0..=0xdf => (byte & 0x1f) << 6 | next(false)? & 0x3f,
            0xe0..=0xef => (byte & 0x0f) << 12 | (next(false)? & 0x3f) << 6 | next(false)? & 0x3f,
            _ => return None,
        });
    }
    String::from_utf16(&units).ok()
}
