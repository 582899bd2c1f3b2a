//! Passes text on as it arrives, once, also when an attempt breaks off and is repeated.
//!
//! Deltas are a preview; the reply holds the whole text. When a repeated answer begins like the first, only what
//! is new is passed on. When it differs, nothing more is: the reader keeps the preview and then gets the reply.

use crate::model::OnDelta;

pub(super) struct Emitter<'a> {
    on_delta: OnDelta<'a>,
    emitted: String,
    /// How much of this attempt's text equals `emitted`; `None` once it differs.
    matched: Option<usize>,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(on_delta: OnDelta<'a>) -> Self {
        Self { on_delta, emitted: String::new(), matched: Some(0) }
    }

    pub(super) fn start_attempt(&mut self) {
        self.matched = Some(0);
    }

    /// `text` is all of this attempt's answer so far.
    pub(super) fn update(&mut self, text: &str) {
        let Some(matched) = self.matched else { return };
        let known = text.len().min(self.emitted.len());
        if text.as_bytes()[matched.min(known)..known] != self.emitted.as_bytes()[matched.min(known)..known] {
            self.matched = None;
            return;
        }
        self.matched = Some(known);
        if let Some(new) = text.get(self.emitted.len()..).filter(|n| !n.is_empty()) {
            (self.on_delta)(new);
            self.emitted.push_str(new);
            self.matched = Some(self.emitted.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn run(attempts: &[&[&str]]) -> Vec<String> {
        let seen = Mutex::new(Vec::new());
        let on_delta = |delta: &str| seen.lock().unwrap().push(delta.to_owned());
        let mut emitter = Emitter::new(&on_delta);
        for attempt in attempts {
            emitter.start_attempt();
            attempt.iter().for_each(|text| emitter.update(text));
        }
        seen.into_inner().unwrap()
    }

    #[test]
    fn a_repeated_answer_is_not_shown_twice() {
        assert_eq!(run(&[&["销", "销售"], &["销售", "销售额", "销售额 1"]]), ["销", "售", "额", " 1"]);
    }

    #[test]
    fn an_answer_that_differs_is_left_to_the_reply() {
        assert_eq!(run(&[&["abc"], &["ab", "abX", "abXY and more"]]), ["abc"]);
        assert_eq!(run(&[&["abc"], &["x"], &["abcd"]]), ["abc", "d"]);
    }
}
