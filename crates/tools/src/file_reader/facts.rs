//! What a synopsis says about code (SPEC X2): its language, its lines, and the names it defines.

use ba_data::outline;
use ba_protocol::FileFacts;

pub(super) fn code(name: &str, language: &str, text: &str) -> FileFacts {
    let found = outline::outline(language, text);
    FileFacts::Code {
        name: name.to_owned(),
        language: language.to_owned(),
        lines: text.lines().count() as u64,
        functions: found.functions,
        classes: found.classes,
    }
}

/// The language of a kind of file, when it is code.
pub(super) fn language(kind: &str) -> Option<&'static str> {
    let found = ba_store::languages::find(kind)?;
    (!matches!(found.name, "markdown" | "json" | "yaml" | "xml" | "html")).then_some(found.name)
}
