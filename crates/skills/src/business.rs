//! `BUSINESS.md`: a company's glossary, metric definitions and fiscal calendar, always in context within a cap.
//! One in the data folder for everybody, one per conversation; the second adds to the first and wins over it.

use std::path::Path;

use ba_protocol::text::show_invisible;

use crate::levels::{CountTokens, capped};
use crate::limits::Limits;
use crate::tree;

/// The file's name, in the data folder and in a conversation's folder.
pub const BUSINESS_MD: &str = "BUSINESS.md";
/// Tokens both files may take together.
pub const BUSINESS_BUDGET: usize = 2000;

/// What the prompt says about the business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusinessNotes {
    pub text: String,
    pub tokens: usize,
    /// Something did not fit, or could not be read: for people.
    pub warnings: Vec<String>,
}

/// Loads and caps the notes of both folders; `None` when neither file has text.
pub fn load_business(
    data_dir: &Path,
    conversation_dir: Option<&Path>,
    budget: usize,
    count: CountTokens<'_>,
) -> Option<BusinessNotes> {
    let mut warnings = Vec::new();
    let own = conversation_dir.and_then(|dir| read_business(dir, &mut warnings));
    let company = read_business(data_dir, &mut warnings);
    let mut notes = business_notes(company.as_deref(), own.as_deref(), budget, count)?;
    notes.warnings.splice(0..0, warnings);
    Some(notes)
}

/// Caps notes that were already read. The conversation's own are served first.
pub fn business_notes(
    company: Option<&str>,
    own: Option<&str>,
    budget: usize,
    count: CountTokens<'_>,
) -> Option<BusinessNotes> {
    let mut warnings = Vec::new();
    let mut left = budget;
    let mut section = |title: &str, text: &str| {
        let text = show_invisible(text.trim_start_matches('\u{feff}').trim());
        if text.is_empty() {
            return None;
        }
        let text = text.replace("</business_notes", "<\\/business_notes");
        let shown = capped(&text, left, count);
        if shown != text {
            warnings
                .push(format!("{title} notes are longer than the {budget} tokens there are for them; cut"));
        }
        left = left.saturating_sub(count(&shown));
        Some(format!("<business_notes scope=\"{title}\">\n{shown}\n</business_notes>\n"))
    };
    let own = own.and_then(|t| section("conversation", t));
    let company = company.and_then(|t| section("company", t));
    if own.is_none() && company.is_none() {
        return None;
    }
    let head = "业务说明（术语、指标口径与财年以此为准；本对话的说明优先于公司的）：\n";
    let text = format!("{head}{}{}", company.unwrap_or_default(), own.unwrap_or_default());
    Some(BusinessNotes { tokens: count(&text), text, warnings })
}

/// The text of a folder's `BUSINESS.md`. A link or an oversized file is refused with a warning.
pub fn read_business(dir: &Path, warnings: &mut Vec<String>) -> Option<String> {
    let limits = Limits { file_bytes: 256 * 1024, ..Limits::default() };
    if std::fs::symlink_metadata(dir.join(BUSINESS_MD)).is_err() {
        return None;
    }
    let bytes = tree::read(dir, BUSINESS_MD, &limits).map_err(|e| warnings.push(e.to_string())).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    #[test]
    fn both_files_are_shown_and_absent_ones_are_nothing() {
        let (data, talk) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        assert_eq!(load_business(data.path(), Some(talk.path()), 100, &words), None);
        fs::write(data.path().join(BUSINESS_MD), "财年从 4 月开始\n").unwrap();
        fs::write(talk.path().join(BUSINESS_MD), "GMV 含退款").unwrap();
        let notes = load_business(data.path(), Some(talk.path()), 100, &words).unwrap();
        insta::assert_snapshot!(notes.text, @r#"
        业务说明（术语、指标口径与财年以此为准；本对话的说明优先于公司的）：
        <business_notes scope="company">
        财年从 4 月开始
        </business_notes>
        <business_notes scope="conversation">
        GMV 含退款
        </business_notes>
        "#);
        assert!(notes.warnings.is_empty());
    }

    #[test]
    fn long_notes_are_cut_and_the_conversations_own_come_first() {
        let (data, talk) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(data.path().join(BUSINESS_MD), "company line\n".repeat(50)).unwrap();
        fs::write(talk.path().join(BUSINESS_MD), "own line\n".repeat(4)).unwrap();
        let notes = load_business(data.path(), Some(talk.path()), 20, &words).unwrap();
        assert_eq!(notes.text.matches("own line").count(), 4);
        assert!(notes.text.matches("company line").count() <= 6, "{}", notes.text);
        assert_eq!(notes.warnings.len(), 1);
    }

    #[test]
    fn a_link_or_a_closing_tag_does_not_escape() {
        let data = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/passwd", data.path().join(BUSINESS_MD)).unwrap();
        assert_eq!(load_business(data.path(), None, 100, &words), None);
        fs::remove_file(data.path().join(BUSINESS_MD)).unwrap();
        fs::write(data.path().join(BUSINESS_MD), "x</business_notes>y").unwrap();
        let notes = load_business(data.path(), None, 100, &words).unwrap();
        assert_eq!(notes.text.matches("</business_notes>").count(), 1);
    }
}
