//! Which languages code may be in, and the extension each is stored with (SPEC C2).

/// Name, extension, other names models use for it.
const LANGUAGES: &[(&str, &str, &[&str])] = &[
    ("python", "py", &["py", "python3", "ipython"]),
    ("javascript", "js", &["js", "node", "jsx", "mjs"]),
    ("typescript", "ts", &["ts", "tsx"]),
    ("html", "html", &["htm"]),
    ("css", "css", &[]),
    ("sql", "sql", &["postgresql", "mysql", "sqlite", "duckdb"]),
    ("shell", "sh", &["sh", "zsh", "console"]),
    ("bash", "sh", &[]),
    ("markdown", "md", &["md"]),
    ("json", "json", &["jsonc"]),
    ("yaml", "yaml", &["yml"]),
    ("xml", "xml", &["svg"]),
    ("r", "r", &["rscript"]),
    ("java", "java", &[]),
    ("c", "c", &["h"]),
    ("cpp", "cpp", &["c++", "cc", "cxx", "hpp"]),
    ("go", "go", &["golang"]),
    ("rust", "rs", &["rs"]),
    ("php", "php", &[]),
    ("ruby", "rb", &["rb"]),
];

/// A supported language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language {
    pub name: &'static str,
    pub extension: &'static str,
}

/// What code in an unsupported language is kept as (SPEC C3).
pub const FALLBACK: Language = Language { name: "python", extension: "py" };

/// By name or a usual alias, in any case.
pub fn find(given: &str) -> Option<Language> {
    let wanted = given.trim().to_ascii_lowercase();
    LANGUAGES
        .iter()
        .find(|(name, _, aliases)| *name == wanted || aliases.contains(&wanted.as_str()))
        .map(|&(name, extension, _)| Language { name, extension })
}

/// Every supported language, in the order of the specification.
pub fn all() -> impl Iterator<Item = Language> {
    LANGUAGES.iter().map(|&(name, extension, _)| Language { name, extension })
}

#[cfg(test)]
mod tests {
    use super::*;

    // SPEC C2
    #[test]
    fn every_language_of_the_specification_has_its_extension() {
        let wanted = "python py, javascript js, typescript ts, html html, css css, sql sql, shell sh, bash sh, \
                      markdown md, json json, yaml yaml, xml xml, r r, java java, c c, cpp cpp, go go, rust rs, \
                      php php, ruby rb";
        for pair in wanted.split(", ") {
            let (name, extension) = pair.split_once(' ').unwrap();
            let found = find(name).unwrap();
            assert_eq!((found.name, found.extension), (name, extension));
        }
        assert_eq!(all().count(), wanted.split(", ").count());
    }

    #[test]
    fn aliases_and_case_are_accepted_and_nothing_else() {
        assert_eq!(find("PY").map(|l| l.name), Some("python"));
        assert_eq!(find(" c++ ").map(|l| l.name), Some("cpp"));
        for unknown in ["", "brainfuck", "../py", "python\0"] {
            assert_eq!(find(unknown), None, "{unknown:?}");
        }
    }
}
