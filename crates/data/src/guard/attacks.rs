//! The attack corpus on SQL: each statement is refused, or what is sent of it is harmless by itself.

use super::{Dialect, Refusal, check};

#[test]
fn no_attack_of_the_corpus_gets_through() {
    let corpus = include_str!("../../../testkit/attacks/sql.jsonl");
    let mut count = 0;
    for line in corpus.lines() {
        let attack: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| attack[key].as_str().unwrap();
        let dialect = match text("dialect") {
            "postgres" => Dialect::Postgres,
            "mysql" => Dialect::MySql,
            "sqlite" => Dialect::Sqlite,
            _ => Dialect::ClickHouse,
        };
        let (name, wall, got) = (text("name"), text("wall"), check(text("sql"), dialect));
        // What a trick of the lexer hid is a plain text now.
        if let (Ok(sent), "rewritten query") = (&got, wall) {
            let bare = without_texts(sent.sql());
            for word in ["sleep", "terminate", "attach", "--", "/*"] {
                assert!(!bare.to_lowercase().contains(word), "{name}: {}", sent.sql());
            }
            count += 1;
            continue;
        }
        let why = got.err().unwrap_or_else(|| panic!("{name} was let through"));
        let fits = match wall {
            "allowed functions" => matches!(why, Refusal::Function { .. } | Refusal::Syntax(_)),
            "hidden relations" => matches!(why, Refusal::Relation(_)),
            "one statement" => matches!(why, Refusal::NotOne(_)),
            // Where the parser does not even know the words, nothing is sent either.
            "reading only" => matches!(why, Refusal::NotARead(_) | Refusal::Syntax(_)),
            "executable comments" => why == Refusal::ExecutableComment,
            _ => true,
        };
        assert!(fits, "{name}: held by another wall than {wall}: {why:?}");
        count += 1;
    }
    assert!(count >= 50, "{count}");
}

/// The statement without what stands in quotes.
fn without_texts(sql: &str) -> String {
    sql.split('\'').step_by(2).collect()
}
