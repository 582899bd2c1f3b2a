//! A table written down in a test, and the first paragraph of what is answered about it.

use crate::bad_input::table;
use crate::support::{Bench, answer};

pub fn bench(name: &str, text: &str) -> Bench {
    let (folder, bench) = table(name, text);
    std::fs::remove_dir_all(folder).unwrap_or_default();
    bench
}

pub fn ask(bench: &mut Bench, question: &str) -> String {
    answer(&bench.ask(&[], question).report.content)
}
