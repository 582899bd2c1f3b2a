//! The attack corpus on SQL: each statement is refused by the wall it names, or what is sent of it is harmless by itself.

use super::{Checked, Dialect, Refusal, check};

#[test]
fn every_attack_of_the_corpus_meets_its_wall() {
    let corpus = include_str!("../../../testkit/attacks/sql.jsonl");
    let mut wrong = Vec::new();
    for line in corpus.lines() {
        let attack: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| attack[key].as_str().unwrap();
        let dialect = match text("dialect") {
            "postgres" => Dialect::Postgres,
            "mysql" => Dialect::MySql,
            "sqlite" => Dialect::Sqlite,
            "clickhouse" => Dialect::ClickHouse,
            other => panic!("no dialect {other}"),
        };
        let got = check(text("sql"), dialect);
        if let Some(sent) = got.as_ref().ok().filter(|sent| !is_harmless(sent)) {
            wrong.push(format!("{} is let through: {}", text("name"), sent.sql()));
        }
        let held = wall(&got);
        if held != text("wall") {
            wrong.push(format!("{} is held by {held:?}, not by {:?}: {got:?}", text("name"), text("wall")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(corpus.lines().count() >= 50);
}

/// Chains nest the parsed statement without a bracket: the longest that fit must not end the process.
#[test]
fn long_chains_are_parsed_or_refused_and_never_overflow() {
    for dialect in [Dialect::Postgres, Dialect::MySql, Dialect::Sqlite, Dialect::ClickHouse, Dialect::DuckDb]
    {
        for (link, words, first) in [
            (" UNION ALL SELECT 1", 3, "SELECT 1"),
            (" + 1", 1, "SELECT 1"),
            (" OR a", 1, "SELECT a"),
            (" IS NULL", 2, "SELECT a"),
        ] {
            for links in [3_900 / words, 9_000, 60_000] {
                let sql = format!("{first}{}", link.repeat(links));
                let got = check(&sql, dialect);
                let refused = matches!(got, Err(Refusal::TooManyLinks | Refusal::TooLong));
                assert_eq!(
                    refused,
                    links >= 9_000,
                    "{dialect:?} {links} {link}: {:?}",
                    got.map(|sent| sent.sql().len())
                );
            }
        }
    }
}

fn wall(got: &Result<Checked, Refusal>) -> &'static str {
    match got {
        Ok(_) | Err(Refusal::Inexpressible(_)) => "rewritten query",
        Err(Refusal::Function { .. }) => "allowed functions",
        Err(Refusal::Relation(_) | Refusal::UnknownTable { .. }) => "hidden relations",
        Err(Refusal::NotOne(_)) => "one statement",
        Err(Refusal::NotARead(_)) => "reading only",
        Err(Refusal::ExecutableComment) => "executable comments",
        Err(Refusal::Syntax(_) | Refusal::Empty | Refusal::TooLong | Refusal::TooManyLinks) => {
            "understood query"
        }
    }
}

/// What a trick of the lexer hid is a plain text now.
fn is_harmless(sent: &Checked) -> bool {
    let bare: String = sent.sql().split('\'').step_by(2).collect::<String>().to_lowercase();
    !["sleep", "terminate", "attach", "benchmark", "load_file", "outfile", "--", "/*", ";"]
        .iter()
        .any(|word| bare.contains(word))
}
