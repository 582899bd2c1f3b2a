//! Codes at the head of notices to a model: programs go by these, never by the words after them.

/// No more tools may be called: the next answer is the last.
pub const LAST_TURN: &str = "[last_turn]";
