//! `<code_ref>` and `<file_ref>` tags of a report become placeholders and entries (SPEC P10, R7, R8).
//!
//! Only tags outside of fenced code count. A placeholder the model typed itself points at nothing and is defused.

use std::sync::LazyLock;

use ba_protocol::api::{CodeRef, FileRef};
use ba_protocol::{CodeFile, CodeId};
use regex::{Captures, Regex};

use super::fences::{self, Piece};
use super::{CodeToSave, Known, shown};

#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test of this module")]
static MARKS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"<code_ref>\s*(?P<code>[^<>]{0,200}?)\s*</code_ref>",
        r"|<file_ref>\s*(?P<file>[^<>]{0,400}?)\s*</file_ref>",
        r"|<!--\s*CODE_SAVED:\s*(?P<saved>[^|<>\s]{1,200})\s*(?:\|[^\n]{0,400}?)?-->",
        r"|(?P<typed>\{\{(?:CODE|FILE):\d+\}\})",
    ))
    .expect("the pattern is valid")
});

pub(super) struct Resolved {
    pub text: String,
    pub code_refs: Vec<CodeRef>,
    pub file_refs: Vec<FileRef>,
}

struct Resolver<'a> {
    known: &'a Known,
    save: &'a [CodeToSave],
    warnings: &'a mut Vec<String>,
    code_refs: Vec<CodeRef>,
    file_refs: Vec<FileRef>,
}

/// Replaces every tag outside of fences. `save` holds the code this very answer brings.
pub(super) fn resolve(
    content: &str,
    known: &Known,
    save: &[CodeToSave],
    warnings: &mut Vec<String>,
) -> Resolved {
    let mut resolver = Resolver { known, save, warnings, code_refs: Vec::new(), file_refs: Vec::new() };
    let mut text = String::with_capacity(content.len());
    for piece in fences::split(content) {
        match piece {
            Piece::Prose(prose) => {
                text.push_str(&MARKS.replace_all(prose, |found: &Captures<'_>| resolver.mark(found)));
            }
            Piece::Fence { whole, .. } => text.push_str(whole),
        }
    }
    Resolved { text, code_refs: resolver.code_refs, file_refs: resolver.file_refs }
}

impl Resolver<'_> {
    fn mark(&mut self, found: &Captures<'_>) -> String {
        let whole = found.get(0).map_or("", |m| m.as_str());
        if let Some(id) = found.name("code") {
            self.code(id.as_str())
        } else if let Some(id) = found.name("file") {
            self.file(id.as_str())
        } else if let Some(id) = found.name("saved") {
            // Lines we just wrote stay; one the model imitated from its history counts as a reference.
            let ours = self.save.iter().any(|code| code.code_id.as_str() == id.as_str());
            if ours { whole.to_owned() } else { self.code(id.as_str()) }
        } else {
            whole.replacen("{{", "{\u{2060}{", 1)
        }
    }

    fn code(&mut self, given: &str) -> String {
        let Some(mut entry) = CodeId::parse(given).ok().and_then(|id| self.find_code(&id)) else {
            self.warnings.push(format!("引用的代码不存在: {}", shown(given)));
            return format!("（代码 {} 不存在）", plain(given));
        };
        if let Some(same) = self.code_refs.iter().find(|r| r.code_id == entry.code_id) {
            return format!("{{{{CODE:{}}}}}", same.index);
        }
        entry.index = self.code_refs.len() + 1;
        let placeholder = format!("{{{{CODE:{}}}}}", entry.index);
        self.code_refs.push(entry);
        placeholder
    }

    fn find_code(&self, id: &CodeId) -> Option<CodeRef> {
        let new = self.save.iter().rev().find(|code| code.code_id == *id).map(|code| CodeRef {
            code_id: id.clone(),
            language: code.language.name.to_owned(),
            description: code.description.clone(),
            index: 0,
        });
        let old = |code: &CodeFile| CodeRef {
            code_id: id.clone(),
            language: code.language.clone(),
            description: code.description.clone(),
            index: 0,
        };
        new.or_else(|| self.known.code.iter().find(|code| code.code_id == *id).map(old))
    }

    fn file(&mut self, given: &str) -> String {
        // Models mix the two tags up; a code id in a file tag is still unambiguous.
        if CodeId::parse(given).ok().is_some_and(|id| self.find_code(&id).is_some()) {
            return self.code(given);
        }
        let Some(mut entry) = self.find_file(given) else {
            self.warnings.push(format!("引用的文件不存在: {}", shown(given)));
            return format!("（文件 {} 不存在）", plain(given));
        };
        if let Some(same) = self.file_refs.iter().find(|r| r.file_id == entry.file_id) {
            return format!("{{{{FILE:{}}}}}", same.index);
        }
        entry.index = self.file_refs.len() + 1;
        let placeholder = format!("{{{{FILE:{}}}}}", entry.index);
        self.file_refs.push(entry);
        placeholder
    }

    /// An upload by id or name, or an artifact by name.
    fn find_file(&self, given: &str) -> Option<FileRef> {
        let uploads = &self.known.uploads;
        let upload = uploads
            .iter()
            .find(|file| file.file_id.as_str() == given)
            .or_else(|| uploads.iter().rev().find(|file| file.filename == given));
        if let Some(file) = upload {
            return Some(FileRef {
                file_id: file.file_id.to_string(),
                filename: file.filename.clone(),
                file_type: file.file_type.clone(),
                size: file.size,
                index: 0,
            });
        }
        self.known.artifacts.iter().rev().find(|file| file.name == given).map(|file| FileRef {
            file_id: file.name.clone(),
            filename: file.name.clone(),
            file_type: file.file_type.clone(),
            size: file.size,
            index: 0,
        })
    }
}

/// A made-up id as text: without characters that Markdown or HTML would act on.
fn plain(given: &str) -> String {
    shown(given).replace(['<', '>', '&', '[', ']', '`', '*', '{', '}', '\\'], "")
}
