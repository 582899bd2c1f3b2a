//! The attack corpus is whole: every attack says what it tried and names a wall that docs/security.md has, and every file of
//! them is read by a test.

use std::collections::HashSet;

#[test]
fn every_attack_has_a_wall_and_a_runner() {
    let root = super::root();
    let security = std::fs::read_to_string(root.join("docs/security.md")).unwrap();
    let mut sources = super::files(&root.join("crates"), ".rs");
    sources.extend(super::files(&root.join("web/tests"), ".mjs"));
    sources.extend(super::files(&root.join("web/tests"), ".ts"));
    let runners: Vec<String> = sources
        .iter()
        .filter(|f| !f.ends_with("testkit/tests/it/attacks.rs"))
        .filter_map(|f| std::fs::read_to_string(f).ok())
        .collect();
    let files = super::files(&root.join("crates/testkit/attacks"), ".jsonl");
    assert!(files.len() >= 2);
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        assert!(runners.iter().any(|r| r.contains(&format!("attacks/{name}"))), "no test reads {name}");
        let mut names = HashSet::new();
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let attack: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| attack[key].as_str().filter(|t| !t.trim().is_empty()).map(str::to_owned);
            let (given, tried, wall) = (text("name"), text("tried"), text("wall"));
            let (Some(given), Some(_), Some(wall)) = (given, tried, wall) else {
                panic!("{name}: name, tried and wall are wanted: {line}")
            };
            assert!(names.insert(given.clone()), "{name}: {given} is there twice");
            assert!(
                security.contains(&format!("| {wall} |")),
                "{name}: docs/security.md has no wall `{wall}`"
            );
        }
    }
}

/// SPEC H1: every budget of the table names a constant or a field that the code has.
#[test]
fn every_budget_of_the_table_exists() {
    let root = super::root();
    let security = std::fs::read_to_string(root.join("docs/security.md")).unwrap();
    let table = security.split("## Budgets").nth(1).unwrap().split("\n## ").next().unwrap();
    let sources: Vec<String> = super::files(&root.join("crates"), ".rs")
        .iter()
        .filter(|file| file.to_string_lossy().contains("/src/"))
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .collect();
    let mut named = 0;
    for row in table.lines().filter(|line| line.starts_with('|')) {
        let places = row.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap_or_default();
        for place in places.split('`').skip(1).step_by(2) {
            let names = place.rsplit("::").next().unwrap().trim_matches(['{', '}']);
            for name in names.split(',').map(str::trim) {
                let told = [format!("const {name}:"), format!("{name}: "), format!("struct {name} ")];
                let there = sources.iter().any(|text| told.iter().any(|t| text.contains(t.as_str())));
                assert!(there, "docs/security.md names {place}, which the code has not");
                named += 1;
            }
        }
    }
    assert!(named > 40, "only {named} budgets were found");
}
