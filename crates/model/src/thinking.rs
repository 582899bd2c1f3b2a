//! Thinking that a model writes into its text instead of apart (`<think>…</think>`, as open reasoning models do behind
//! plain servers). Only at the very start: later the words are the answer's own.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// The thought, when the text begins with one, and what is said.
pub(crate) fn split(text: &str) -> (Option<&str>, &str) {
    let start = text.trim_start();
    if let Some(rest) = start.strip_prefix(OPEN) {
        return match rest.split_once(CLOSE) {
            Some((thought, said)) => (Some(thought.trim()), said.trim_start()),
            None => (Some(rest.trim()), ""),
        };
    }
    // Some chat templates open the thought themselves, so that only its end arrives.
    match start.split_once(CLOSE) {
        Some((thought, said)) if !thought.contains('{') => (Some(thought.trim()), said.trim_start()),
        _ => (None, text),
    }
}

/// Follows a text as it grows; looks at each byte once.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    looked_at: usize,
    said_from: Option<usize>,
}

impl Follower {
    /// What is said so far. While a thought is open, nothing.
    pub(crate) fn said<'a>(&mut self, text: &'a str) -> &'a str {
        if let Some(from) = self.said_from {
            return text.get(from..).unwrap_or_default();
        }
        let start = text.trim_start();
        if start.is_empty() || OPEN.starts_with(start) {
            return "";
        }
        if !start.starts_with(OPEN) {
            self.said_from = Some(0);
            return text;
        }
        // The tag may have been cut in two.
        let from = text.floor_char_boundary(self.looked_at.saturating_sub(CLOSE.len()));
        self.looked_at = text.len();
        let Some(at) = text.get(from..).and_then(|rest| rest.find(CLOSE)) else { return "" };
        let after = from + at + CLOSE.len();
        let rest = text.get(after..).unwrap_or_default();
        if rest.trim_start().is_empty() {
            self.looked_at = after;
            return "";
        }
        let said_from = text.len() - rest.trim_start().len();
        self.said_from = Some(said_from);
        text.get(said_from..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thought_at_the_start_is_taken_out_and_no_other() {
        assert_eq!(split("<think>a\nb</think>\n{\"x\":1}"), (Some("a\nb"), "{\"x\":1}"));
        assert_eq!(split("好 <think>"), (None, "好 <think>"));
        assert_eq!(split("\n<think>still"), (Some("still"), ""));
        assert_eq!(split("thoughts</think>{}"), (Some("thoughts"), "{}"));
        let quoting = "{\"action\": \"</think>\"}";
        assert_eq!(split(quoting), (None, quoting));
    }

    #[test]
    fn a_growing_text_says_nothing_while_it_thinks() {
        let whole = "<think>要先\n想</think>\n\n{\"好\": 1}";
        let mut follower = Follower::default();
        let mut last = "";
        for (at, c) in whole.char_indices() {
            let now = follower.said(&whole[..at + c.len_utf8()]);
            assert!(now.starts_with(last) && !now.contains("想"), "{now}");
            last = now;
        }
        assert_eq!(last, "{\"好\": 1}");
        assert_eq!(Follower::default().said("plain"), "plain");
    }
}
