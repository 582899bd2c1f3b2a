//! The dependency arrows of ARCHITECTURE.md: who may know whom.

use std::collections::{BTreeMap, BTreeSet};

/// What each crate may use of ours, at run time. Tests may use more.
const ALLOWED: &[(&str, &[&str])] = &[
    ("protocol", &[]),
    ("config", &["protocol"]),
    ("model", &["protocol"]),
    ("store", &["protocol"]),
    ("sandbox", &["protocol"]),
    ("skills", &["protocol"]),
    ("web", &["protocol"]),
    ("audit", &["protocol"]),
    ("data", &["protocol", "sandbox"]),
    ("agent", &["protocol", "model", "store", "skills", "audit"]),
    ("tools", &["protocol", "agent", "data", "sandbox", "store", "skills", "web"]),
    ("mcp", &["protocol", "agent", "store"]),
    ("analyst", &["protocol", "model"]),
    ("eval", &[]),
    ("server", &["protocol", "agent", "store", "config", "skills"]),
    (
        "cli",
        &[
            "protocol", "config", "model", "store", "sandbox", "data", "agent", "tools", "analyst", "eval",
            "server", "skills", "web", "audit", "mcp",
        ],
    ),
    ("testkit", &[]),
];

/// Third-party crates that only some may use: the reason is the crate's place in the architecture.
const RESERVED: &[(&str, &[&str])] = &[
    ("axum", &["server"]),
    ("sqlx", &["store", "data"]),
    ("landlock", &["sandbox"]),
    ("seccompiler", &["sandbox"]),
    ("rmcp", &["mcp", "server"]),
    ("anyhow", &["cli"]),
    ("clap", &["cli"]),
];

/// A section whose crates are there at run time, not only in tests.
fn is_runtime(section: &str) -> bool {
    section == "dependencies" || (section.starts_with("target.") && section.ends_with(".dependencies"))
}

fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(super::root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(manifest) = std::fs::read_to_string(folder.join("Cargo.toml")) else { continue };
        let mut section = String::new();
        let mut names = BTreeSet::new();
        for line in manifest.lines().map(str::trim) {
            if line.starts_with('[') {
                section = line.trim_matches(['[', ']']).to_owned();
            } else if is_runtime(&section)
                && let Some(name) = line.split(['.', '=', ' ']).next()
                && !name.is_empty()
                && !name.starts_with('#')
            {
                names.insert(name.to_owned());
            }
        }
        all.insert(folder.file_name().unwrap().to_string_lossy().into_owned(), names);
    }
    all
}

#[test]
fn no_crate_knows_what_it_must_not() {
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    for (name, uses) in dependencies() {
        let may =
            allowed.get(name.as_str()).unwrap_or_else(|| panic!("crate {name} has no place in the arrows"));
        for used in uses.iter().filter_map(|u| u.strip_prefix("ba-")) {
            assert!(may.contains(&used), "{name} must not depend on {used}");
        }
    }
}

#[test]
fn reserved_crates_stay_where_they_belong() {
    for (name, uses) in dependencies() {
        for (reserved, owners) in RESERVED {
            let fine = !uses.contains(*reserved) || owners.contains(&name.as_str());
            assert!(fine, "{name} must not use {reserved}; only {owners:?} may");
        }
    }
}
