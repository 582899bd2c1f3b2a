//! Turns single values of the wrong type into what a field wants. Never fails: the worst case is an empty field.

use serde_json::{Map, Value};

/// What was repaired, each kind once, however often it occurred.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Repairs(Vec<&'static str>);

impl Repairs {
    pub(super) fn note(&mut self, what: &'static str) {
        if !self.0.contains(&what) {
            self.0.push(what);
        }
    }

    pub(super) fn extend(&mut self, other: Repairs) {
        for what in other.0 {
            self.note(what);
        }
    }

    pub(super) fn into_words(self, more: Vec<String>) -> Vec<String> {
        let mut words: Vec<String> = self.0.into_iter().map(str::to_owned).collect();
        words.extend(more);
        words
    }
}

/// Takes the first of `names` that is present and not null.
pub(super) fn take(map: &mut Map<String, Value>, names: &[&str]) -> Option<Value> {
    let name = names.iter().find(|n| map.get(**n).is_some_and(|v| !v.is_null()))?;
    // `shift_remove` keeps the order of what stays; calls have few keys, so its cost does not matter.
    map.shift_remove(*name)
}

/// Any value as text: lists become lines, objects stay JSON.
pub(super) fn text(value: Value, repairs: &mut Repairs) -> String {
    match value {
        Value::String(s) => s,
        Value::Null => String::new(),
        Value::Array(items) => {
            repairs.note("joined a list where a text belongs");
            let lines: Vec<String> = items.into_iter().map(line).filter(|l| !l.is_empty()).collect();
            lines.join("\n")
        }
        other => {
            repairs.note("wrote a value of another type as text");
            other.to_string()
        }
    }
}

/// One entry of a list as text; of an object, the part meant for people.
fn line(value: Value) -> String {
    match value {
        Value::String(s) => s,
        Value::Null => String::new(),
        Value::Object(mut map) => {
            match take(&mut map, &["text", "question", "content", "filename", "file_name", "name", "url"]) {
                Some(Value::String(s)) => s,
                Some(other) => other.to_string(),
                None => Value::Object(map).to_string(),
            }
        }
        other => other.to_string(),
    }
}

/// A list of short texts: questions, file names.
pub(super) fn list(value: Option<Value>, repairs: &mut Repairs) -> Vec<String> {
    let items = match value {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(items)) => items,
        Some(single) => {
            repairs.note("made a list of a single value");
            vec![single]
        }
    };
    let mut lines = Vec::with_capacity(items.len());
    for item in items {
        if !item.is_string() {
            repairs.note("wrote a list entry of another type as text");
        }
        let line = line(item);
        let trimmed = line.trim();
        if !trimmed.is_empty() {
            lines.push(if trimmed.len() == line.len() { line } else { trimmed.to_owned() });
        }
    }
    lines
}

/// `current_round` (SPEC P3): from 1; absent, unreadable or below 1 counts as 1.
pub(super) fn round(value: Option<Value>, repairs: &mut Repairs) -> u32 {
    let given = match value {
        None | Some(Value::Null) => return 1,
        Some(Value::Number(n)) => match n.as_u64() {
            Some(whole) => Some(whole),
            None => {
                repairs.note("made `current_round` a whole number from 1");
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "`as` saturates, and the result is clamped below"
                )]
                n.as_f64().map(|f| f as u64)
            }
        },
        Some(other) => {
            repairs.note("made `current_round` a whole number from 1");
            first_number(other.as_str().unwrap_or_default())
        }
    };
    let round = given.unwrap_or(1);
    if round == 0 {
        repairs.note("made `current_round` a whole number from 1");
    }
    u32::try_from(round.max(1)).unwrap_or(u32::MAX)
}

/// The first run of digits: `R2`, `第2轮`, `2/3`.
fn first_number(text: &str) -> Option<u64> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let digits: String = text[start..].chars().take_while(char::is_ascii_digit).take(18).collect();
    digits.parse().ok()
}
