//! Reads one object from text that is nearly JSON: other quotes, trailing or missing commas, Python literals,
//! comments, brackets that do not match. Iterative with a depth limit, so no input exhausts the stack.
//!
//! Says where an object was cut off instead of inventing its end.

use serde_json::{Map, Number, Value};

use super::fields::Repairs;
use super::strings::starts_string;

/// Objects and lists nested deeper than this are refused.
pub(super) const MAX_DEPTH: usize = 100;

/// What an attempt to read an object came to.
pub(super) enum Read {
    Whole {
        value: Value,
        end: usize,
        repairs: Repairs,
    },
    /// The text ended first. `path` leads to the open value (an empty name stands for a key that never came);
    /// `inside` when something of it is missing for sure, rather than only closing brackets.
    Cut {
        value: Value,
        path: Vec<String>,
        inside: bool,
        repairs: Repairs,
    },
    Failed {
        at: usize,
        problem: &'static str,
    },
}

/// Where a string stands: it decides what may follow its closing quote.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    Key,
    InObject,
    InArray,
}

enum Frame {
    Object { map: Map<String, Value>, key: Option<String> },
    Array(Vec<Value>),
}

#[derive(Clone, Copy, PartialEq)]
enum Expect {
    Value,
    KeyOrEnd,
    CommaOrEnd,
}

pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) pos: usize,
    pub(super) repairs: Repairs,
    /// Where the last code fence of the text stands: only that one can end the object.
    pub(super) last_fence: Option<usize>,
    stack: Vec<Frame>,
    expect: Expect,
    /// The last scalar touched the end of the text, so more of it may be missing.
    open_scalar: bool,
}

enum Step {
    Go,
    Done(Value),
    End,
    Fail(&'static str),
}

impl<'a> Reader<'a> {
    /// Reads the object that opens at `start`. `last_fence` is that of the text: finding it here would cost every
    /// attempt a search.
    pub(super) fn read(text: &'a str, start: usize, last_fence: Option<usize>) -> Read {
        let mut reader = Reader {
            text,
            bytes: text.as_bytes(),
            pos: start,
            repairs: Repairs::default(),
            last_fence,
            stack: Vec::new(),
            expect: Expect::Value,
            open_scalar: false,
        };
        loop {
            match reader.step() {
                Step::Go => {}
                Step::Done(value) => return Read::Whole { value, end: reader.pos, repairs: reader.repairs },
                Step::End => return reader.cut(),
                Step::Fail(problem) => return Read::Failed { at: reader.pos, problem },
            }
        }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    pub(super) fn depth(&self) -> usize {
        self.stack.len()
    }

    pub(super) fn char_len(&self) -> usize {
        self.rest().chars().next().map_or(1, char::len_utf8)
    }

    fn in_object(&self) -> bool {
        matches!(self.stack.last(), Some(Frame::Object { .. }))
    }

    fn step(&mut self) -> Step {
        self.skip_blanks();
        let Some(next) = self.rest().chars().next() else { return Step::End };
        if self.rest().starts_with("```") {
            return Step::End;
        }
        match self.expect {
            Expect::Value => self.value(next),
            Expect::KeyOrEnd => self.key(next),
            Expect::CommaOrEnd => self.comma(next),
        }
    }

    fn value(&mut self, next: char) -> Step {
        match next {
            '{' | '[' | '(' => {
                if self.stack.len() == MAX_DEPTH {
                    return Step::Fail("it is nested too deeply");
                }
                self.pos += 1;
                if next == '{' {
                    self.stack.push(Frame::Object { map: Map::new(), key: None });
                    self.expect = Expect::KeyOrEnd;
                } else {
                    self.stack.push(Frame::Array(Vec::new()));
                }
                Step::Go
            }
            '}' | ']' | ')' => {
                if self.in_object() {
                    self.repairs.note("put null where a value is missing");
                    self.put(Value::Null);
                } else {
                    self.repairs.note("removed a trailing comma");
                }
                self.close(next)
            }
            ',' | '，' => {
                if self.in_object() {
                    self.repairs.note("put null where a value is missing");
                    self.put(Value::Null);
                } else {
                    self.repairs.note("removed an extra comma");
                    self.pos += next.len_utf8();
                }
                Step::Go
            }
            '0'..='9' | '-' | '+' | '.' => self.number(),
            _ if starts_string(self.rest()) => self.string_value(),
            c if c.is_alphabetic() || c == '_' => self.word(),
            _ => Step::Fail("a value was expected"),
        }
    }

    fn string_value(&mut self) -> Step {
        let role = if self.in_object() { Role::InObject } else { Role::InArray };
        let literal = self.string(role);
        self.put(Value::String(literal.text));
        self.open_scalar = !literal.closed;
        if literal.closed { Step::Go } else { Step::End }
    }

    fn key(&mut self, next: char) -> Step {
        let name = match next {
            '}' | ']' => return self.close(next),
            ',' | '，' | ';' => {
                self.repairs.note("removed an extra comma");
                self.pos += next.len_utf8();
                return Step::Go;
            }
            _ if starts_string(self.rest()) => {
                let literal = self.string(Role::Key);
                if !literal.closed {
                    return Step::End;
                }
                literal.text
            }
            c if c.is_alphanumeric() || c == '_' || c == '$' => {
                self.repairs.note("quoted a bare key");
                let name = self.bare(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-'));
                name.to_owned()
            }
            _ => return Step::Fail("a key in double quotes was expected"),
        };
        self.skip_blanks();
        match self.rest().chars().next() {
            None => Step::End,
            Some(colon @ (':' | '：')) => {
                self.pos += colon.len_utf8();
                if let Some(Frame::Object { key, .. }) = self.stack.last_mut() {
                    *key = Some(name);
                }
                self.expect = Expect::Value;
                Step::Go
            }
            Some(_) => Step::Fail("a colon was expected after the key"),
        }
    }

    fn comma(&mut self, next: char) -> Step {
        match next {
            ',' | '，' | ';' => {
                if next != ',' {
                    self.repairs.note("changed other punctuation to commas");
                }
                self.pos += next.len_utf8();
                self.expect = if self.in_object() { Expect::KeyOrEnd } else { Expect::Value };
                self.skip_blanks();
                if self.in_object() && matches!(self.bytes.get(self.pos), Some(b'}' | b']')) {
                    self.repairs.note("removed a trailing comma");
                }
                Step::Go
            }
            '}' | ']' | ')' => self.close(next),
            _ if starts_string(self.rest()) || matches!(next, '{' | '[') || next.is_alphanumeric() => {
                self.repairs.note("added a missing comma");
                self.expect = if self.in_object() { Expect::KeyOrEnd } else { Expect::Value };
                Step::Go
            }
            _ => Step::Fail("a comma or a closing bracket was expected"),
        }
    }

    /// Closes the frame that `bracket` belongs to, and with it those left open inside.
    fn close(&mut self, bracket: char) -> Step {
        self.pos += 1;
        let wants_object = bracket == '}';
        let fits = |f: &Frame| matches!(f, Frame::Object { .. }) == wants_object;
        if !self.stack.iter().any(fits) {
            self.repairs.note("ignored a closing bracket that closes nothing");
            self.expect = Expect::CommaOrEnd;
            return Step::Go;
        }
        while let Some(frame) = self.stack.pop() {
            let done = fits(&frame);
            if !done {
                self.repairs.note("added missing closing brackets");
            }
            let value = finish(frame);
            if self.stack.is_empty() {
                return Step::Done(value);
            }
            self.put(value);
            if done {
                break;
            }
        }
        Step::Go
    }

    /// Stores a finished value in the open frame.
    fn put(&mut self, value: Value) {
        match self.stack.last_mut() {
            Some(Frame::Object { map, key }) => {
                if let Some(key) = key.take() {
                    map.insert(key, value);
                }
            }
            Some(Frame::Array(items)) => items.push(value),
            None => {}
        }
        self.expect = Expect::CommaOrEnd;
    }

    fn number(&mut self) -> Step {
        let raw = self.bare(|c| c.is_alphanumeric() || matches!(c, '-' | '+' | '.' | '_' | ':'));
        self.open_scalar = self.pos == self.bytes.len();
        let value = if let Ok(number) = serde_json::from_str::<Number>(raw) {
            Value::Number(number)
        } else {
            self.repairs.note("read a number or date written in another way");
            let plain: String = raw.chars().filter(|c| *c != '_').collect();
            let plain = plain.strip_prefix('+').unwrap_or(&plain);
            let number = plain
                .parse::<i64>()
                .map(Number::from)
                .ok()
                .or_else(|| plain.parse::<f64>().ok().and_then(Number::from_f64));
            number.map_or_else(|| Value::String(raw.to_owned()), Value::Number)
        };
        self.put(value);
        Step::Go
    }

    /// `true`, `None`, `NaN`, a string prefix like Python's `r"…"`, or an unquoted word.
    fn word(&mut self) -> Step {
        let word = self.bare(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            "True" | "TRUE" | "False" | "FALSE" | "None" | "nil" | "undefined" | "NaN" | "Infinity" => {
                self.repairs.note("changed Python or JavaScript literals to JSON");
                if word.eq_ignore_ascii_case("true") {
                    Value::Bool(true)
                } else if word.eq_ignore_ascii_case("false") {
                    Value::Bool(false)
                } else {
                    Value::Null
                }
            }
            "r" | "f" | "b" | "u" | "R" | "F" | "rf" | "fr" if starts_string(self.rest()) => {
                return self.string_value();
            }
            _ => {
                self.repairs.note("quoted a bare word");
                Value::String(word.to_owned())
            }
        };
        self.open_scalar = self.pos == self.bytes.len();
        self.put(value);
        Step::Go
    }

    fn bare(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.pos += end;
        &rest[..end]
    }

    /// Blanks and comments.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.pos += rest.len() - trimmed.len();
            let comment = if trimmed.starts_with("//") || trimmed.starts_with('#') {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else {
                return;
            };
            self.repairs.note("removed comments");
            self.pos += comment;
        }
    }

    /// The text ended: everything open is closed as it is.
    fn cut(mut self) -> Read {
        let inside = self.open_scalar || self.expect != Expect::CommaOrEnd;
        let mut path = Vec::new();
        for frame in &self.stack {
            path.push(match frame {
                Frame::Object { key: Some(key), .. } => key.clone(),
                Frame::Object { map, .. } if self.expect == Expect::CommaOrEnd => {
                    map.keys().next_back().cloned().unwrap_or_default()
                }
                Frame::Object { .. } => String::new(),
                Frame::Array(items) => items.len().to_string(),
            });
        }
        let mut value = Value::Null;
        let mut inner = None;
        while let Some(frame) = self.stack.pop() {
            if let Some(done) = inner.take() {
                self.stack.push(frame);
                self.put(done);
                inner = self.stack.pop().map(finish);
            } else {
                inner = Some(finish(frame));
            }
        }
        if let Some(done) = inner {
            value = done;
        }
        self.repairs.note("added missing closing brackets");
        Read::Cut { value, path, inside, repairs: self.repairs }
    }
}

fn finish(frame: Frame) -> Value {
    match frame {
        Frame::Object { map, .. } => Value::Object(map),
        Frame::Array(items) => Value::Array(items),
    }
}
