//! Hostile tables and questions: nothing becomes markup, SQL or a figure.

use std::io::Write;

use crate::support::Bench;

pub fn table(name: &str, text: &str) -> (std::path::PathBuf, Bench) {
    // Every table has its folder: tests run side by side.
    static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("ba-analyst-{}-{count}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.csv"));
    std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    let mut bench = Bench::new();
    bench.load(&[path.to_string_lossy().into_owned()]);
    (folder, bench)
}

#[test]
fn values_with_markup_stay_text() {
    let text = "region,amount\n</script><script>alert(1)</script>,10\n<img src=x onerror=alert(1)>,20\n\"a|b `c` {{CODE:0}}\",5\n";
    let (folder, mut bench) = table("markup", text);
    let content = bench.ask(&[], "amount by region").report.content;
    assert_eq!(content.matches("</script>").count(), 1, "{content}");
    assert!(!content.contains("<img") && !content.contains("{{CODE"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn names_and_values_with_quotes_stay_in_their_place() {
    let text = "\"re\"\"gion'; DROP TABLE x; --\",amount\nO'Brien,10\n\"x\"\"y\",20\n";
    let (folder, mut bench) = table("quotes", text);
    let run = bench.ask(&[], "total amount of O'Brien");
    assert!(run.report.content.contains("**10**"), "{}", run.report.content);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Whether a figure is given as an answer.
fn has_figure(content: &str) -> bool {
    content.split("**").skip(1).step_by(2).any(|bold| bold.chars().any(|c| c.is_ascii_digit()))
}

#[test]
fn empty_tables_and_strange_questions_get_no_figure() {
    let (full, mut bench) = table("full", "region,amount\nnorth,10\nsouth,20\n");
    assert!(has_figure(&bench.ask(&[], "total amount").report.content), "with rows there is one");
    std::fs::remove_dir_all(full).unwrap();
    let (folder, mut bench) = table("empty", "region,amount\n");
    let long = "销售额".repeat(500);
    for question in
        ["total amount", "amount by region", "?", "。。。", "'; DROP TABLE upload_001; --", long.as_str()]
    {
        let content = bench.ask(&[], question).report.content;
        assert!(!content.trim().is_empty() && !has_figure(&content), "{question}: {content}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_failing_tool_gives_no_figure() {
    let (folder, mut bench) = table("failing", "a,b\n1,2\n");
    bench.break_queries();
    let content = bench.ask(&[], "sum of a").report.content;
    assert!(content.contains("no figure") || content.contains("no answer"), "{content}");
    std::fs::remove_dir_all(folder).unwrap();
}
