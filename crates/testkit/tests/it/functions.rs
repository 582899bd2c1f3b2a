//! Functions fit a screen, and what a crate offers is used by somebody.

use std::collections::HashMap;

use super::source::{Source, blank, shipped};
use super::{files, root};

const MOST_LINES: usize = 80;

/// Functions past the limit, by crate, from before the rule. The numbers may only become smaller.
const LONG: &[(&str, usize)] = &[("analyst", 27), ("agent", 1)];

/// Names that something other than our code uses: serialisation, a macro, a documented interface.
const USED_ELSEWHERE: &[&str] = &[];

/// (name, line, lines) of each function with a body.
fn functions(source: &Source) -> Vec<(String, usize, usize)> {
    let code = &source.code;
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let name: String = code[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let Some(length) = body(&code[at..]).filter(|_| !name.is_empty()) else { continue };
        let lines = code[at..at + length].lines().count();
        found.push((name, code[..at].lines().count(), lines));
    }
    found
}

/// From `fn` to the brace that closes its body; nothing where a `;` comes first.
fn body(text: &str) -> Option<usize> {
    let (mut round, mut curly) = (0i32, 0i32);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => round += 1,
            ')' | ']' => round -= 1,
            ';' if round == 0 && curly == 0 => return None,
            '{' => curly += 1,
            '}' => {
                curly -= 1;
                if curly == 0 && round == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[test]
fn functions_fit_a_screen() {
    let mut long: HashMap<String, Vec<String>> = HashMap::new();
    let mut seen = 0;
    for source in shipped() {
        for (name, line, lines) in functions(&source) {
            seen += 1;
            if lines > MOST_LINES {
                let place = format!("{}:{line} {name}: {lines} lines", source.path);
                long.entry(source.krate().to_owned()).or_default().push(place);
            }
        }
    }
    assert!(seen > 3_000, "functions were not found: {seen}");
    long.retain(|krate, found| {
        let allowed = LONG.iter().find(|(name, _)| name == krate).map_or(0, |(_, most)| *most);
        found.len() > allowed
    });
    assert!(long.is_empty(), "more functions past {MOST_LINES} lines than {LONG:?}: {long:#?}");
}

/// A name that stands only where it is made is offered to nobody. The compiler cannot say so of what is `pub`.
#[test]
fn nothing_is_public_for_nobody() {
    let mut words: HashMap<String, usize> = HashMap::new();
    for folder in ["crates", "fuzz"] {
        for path in files(&root().join(folder), ".rs") {
            let text = blank(&std::fs::read_to_string(path).unwrap(), false);
            for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty()) {
                *words.entry(word.to_owned()).or_default() += 1;
            }
        }
    }
    let kinds = ["fn ", "async fn ", "const fn ", "struct ", "enum ", "trait ", "const ", "static ", "type "];
    let mut unused = Vec::new();
    for source in shipped() {
        for (number, line) in source.code.lines().enumerate() {
            let Some(after) = line.trim_start().strip_prefix("pub ") else { continue };
            let Some(rest) = kinds.iter().find_map(|kind| after.strip_prefix(kind)) else { continue };
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if words.get(&name) == Some(&1) && !USED_ELSEWHERE.contains(&name.as_str()) {
                unused.push(format!("{}:{} {name}", source.path, number + 1));
            }
        }
    }
    assert!(unused.is_empty(), "nobody uses these: {unused:#?}");
}

#[test]
fn a_body_ends_with_its_brace() {
    assert_eq!(body("fn a(x: [u8; 3]) -> u8 { if x { 1 } else { 2 } } fn b() {}"), Some(48));
    assert_eq!(body("fn a(&self);\n fn b() {}"), None);
}
