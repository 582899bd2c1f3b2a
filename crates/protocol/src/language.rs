//! The language that a person writes in, and is answered in.

use serde::{Deserialize, Serialize};

/// The language we speak to the user in, when it is we who speak.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    #[default]
    Zh,
    En,
}

impl Language {
    /// Chinese as soon as the message has a Chinese character.
    pub fn of(message: &str) -> Self {
        let chinese = |c: char| matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}');
        if message.chars().any(chinese) { Language::Zh } else { Language::En }
    }
}
