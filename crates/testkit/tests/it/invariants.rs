//! Every Architecture Invariant of ARCHITECTURE.md: the words it forbids and where, or the test that shows it.

use super::source::{Source, shipped};
use super::{files, root};

/// Words that must not stand in the code of some crates.
struct Ban {
    /// How the invariant begins in ARCHITECTURE.md.
    invariant: &'static str,
    words: &'static [&'static str],
    /// Whether the inside of a string counts.
    in_strings: bool,
    /// Path beginnings it holds for; empty means everywhere.
    inside: &'static [&'static str],
    /// Path beginnings that may.
    except: &'static [&'static str],
}

const BANS: &[Ban] = &[
    Ban {
        invariant: "`protocol` does no IO",
        words: &[
            "tokio",
            "std::fs",
            "std::net",
            "std::process",
            "std::env",
            "std::thread",
            "reqwest",
            "async fn",
        ],
        in_strings: false,
        inside: &["crates/protocol/", "crates/audit/"],
        except: &[],
    },
    Ban {
        invariant: "nothing but `config` reads the environment",
        words: &["env::var", "env::var_os", "env::vars", "env::set_var", "env::args"],
        in_strings: false,
        inside: &[],
        except: &["crates/config/"],
    },
    Ban {
        invariant: "the server process never parses an uploaded table",
        words: &[
            "calamine",
            "polars",
            "duckdb::",
            "csv::Reader",
            "parquet::",
            "pyo3",
            "Command::new",
            "process::Command",
        ],
        in_strings: false,
        inside: &[],
        // Python, git for skills that are imported, and the programs of `[mcp.NAME]`.
        except: &["crates/sandbox/src/", "crates/skills/src/git_import.rs", "crates/mcp/src/connection.rs"],
    },
    Ban {
        invariant: "`agent` knows no axum",
        words: &["axum", "sqlx", "rusqlite", "sqlparser", "ba_tools", "ba_data", "ba_sandbox", "ba_server"],
        in_strings: false,
        inside: &["crates/agent/"],
        except: &[],
    },
    Ban {
        invariant: "`agent` knows no axum",
        words: &["run_python", "query_database", "web_search", "web_reader", "SELECT ", "import "],
        in_strings: true,
        inside: &["crates/agent/"],
        except: &[],
    },
    Ban {
        invariant: "untrusted text becomes part of a prompt only through",
        words: &["<tool_result"],
        in_strings: true,
        inside: &[],
        // The others read what it wrote: the offline analyst, and replays when they look for the same question.
        except: &[
            "crates/agent/src/pipeline/observation.rs",
            "crates/analyst/src/observe.rs",
            "crates/model/src/replay.rs",
        ],
    },
    Ban {
        invariant: "every request a model can cause goes through `web::fetch`",
        words: &["reqwest", "TcpStream::connect", "UdpSocket", "lookup_host", "hyper::client", "ureq"],
        in_strings: false,
        inside: &[],
        // Endpoints that the configuration names: models, databases, MCP servers, buckets; `doctor` tries them.
        except: &[
            "crates/web/src/fetch/",
            "crates/model/src/client/",
            "crates/data/src/connections/",
            "crates/mcp/src/",
            "crates/store/src/blob/s3.rs",
            "crates/cli/src/commands/doctor.rs",
        ],
    },
    Ban {
        invariant: "a database gets the parsed query",
        words: &["AssertSqlSafe"],
        in_strings: false,
        inside: &[],
        except: &["crates/data/src/connections/"],
    },
];

/// What text cannot show: a file and a test in it that does.
const TESTED: &[(&str, &str, &str)] = &[
    (
        "an event is published after it was committed",
        "crates/agent/src/drive/ledger.rs",
        "after_a_step_that_was_not_stored_nothing_is_told",
    ),
    (
        "a database gets the parsed query",
        "crates/data/tests/it/attacks.rs",
        "what_is_sent_answers_as_what_was_asked",
    ),
    (
        "a conversation's owner is checked in the store",
        "crates/server/tests/it/access.rs",
        "another_users_things_do_not_exist",
    ),
    (
        "a conversation's owner is checked in the store",
        "crates/store/tests/it/conversations.rs",
        "another_owner_sees_nothing",
    ),
];

/// Whether `word` stands in `text` by itself: `tokio` in `tokio::spawn`, not in `tokio_like`.
fn has(text: &str, word: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    let open = |end: Option<char>, edge: char| !(end.is_some_and(joins) && joins(edge));
    let (first, last) = (word.chars().next().unwrap_or(' '), word.chars().next_back().unwrap_or(' '));
    text.match_indices(word).any(|(at, _)| {
        open(text[..at].chars().next_back(), first) && open(text[at + word.len()..].chars().next(), last)
    })
}

fn broken(ban: &Ban, source: &Source) -> Vec<String> {
    let starts = |with: &[&str]| with.iter().any(|start| source.path.starts_with(start));
    if (!ban.inside.is_empty() && !starts(ban.inside)) || starts(ban.except) {
        return Vec::new();
    }
    let text = if ban.in_strings { &source.with_strings } else { &source.code };
    ban.words.iter().filter(|word| has(text, word)).map(|word| format!("{}: `{word}`", source.path)).collect()
}

#[test]
fn no_source_breaks_an_invariant() {
    let sources = shipped();
    for ban in BANS {
        let found: Vec<String> = sources.iter().flat_map(|source| broken(ban, source)).collect();
        assert!(found.is_empty(), "{} …: {found:#?}", ban.invariant);
        let unused: Vec<_> =
            ban.except.iter().filter(|start| !sources.iter().any(|s| s.path.starts_with(**start))).collect();
        assert!(unused.is_empty(), "{} …: exceptions for nothing: {unused:?}", ban.invariant);
    }
}

#[test]
fn every_invariant_is_checked_or_tested() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told: Vec<&str> = text.split("**Architecture Invariant:** ").skip(1).collect();
    assert!(told.len() >= 9);
    let known: Vec<&str> = BANS.iter().map(|b| b.invariant).chain(TESTED.iter().map(|t| t.0)).collect();
    for invariant in &told {
        let checked = known.iter().any(|start| invariant.starts_with(start));
        assert!(checked, "nothing checks this: {}", &invariant[..invariant.len().min(120)]);
    }
    for start in &known {
        assert!(told.iter().any(|t| t.starts_with(start)), "ARCHITECTURE.md no longer says: {start} …");
    }
    for (_, file, test) in TESTED {
        let source = std::fs::read_to_string(root().join(file)).unwrap_or_default();
        assert!(source.contains(&format!("fn {test}(")), "{file} has no test {test}");
    }
}

/// `unsafe` is for the sandbox, which talks to the kernel.
#[test]
fn unsafe_code_is_the_sandboxs_alone() {
    let all = files(&root().join("crates"), "Cargo.toml");
    let own_lints: Vec<_> = all
        .iter()
        .filter(|path| {
            let manifest = std::fs::read_to_string(path).unwrap();
            !manifest.contains("[lints]\nworkspace = true") && !path.ends_with("sandbox/Cargo.toml")
        })
        .collect();
    assert!(own_lints.is_empty(), "these do not take the workspace's lints: {own_lints:?}");
}

#[test]
fn words_are_found_by_themselves_only() {
    assert!(has("use tokio::sync;", "tokio") && has("x = std::fs::read()", "std::fs"));
    assert!(!has("tokio_like()", "tokio") && !has("important", "import "));
}
