//! Extraction quality and speed: every page of the corpus beside the baseline (all visible text of the body).
//! `cargo bench -p ba-web --bench extract`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints and may fail")]

#[path = "../tests/it/quality.rs"]
mod quality;

use std::time::{Duration, Instant};

use ba_web::extract;
use quality::{corpus, mean, plain, score};
use url::Url;

fn main() {
    let base = Url::parse("https://site.example/path/page.html").unwrap();
    let pages = corpus();
    let (mut ours, mut all) = (Vec::new(), Vec::new());
    println!("{:<22} {:>9} {:>7} {:>6}   baseline F1", "page", "precision", "recall", "F1");
    for page in &pages {
        let read = extract::page(&page.html, &base);
        let found = score(&plain(&read.title, &read.markdown), &page.expected);
        let baseline = score(&extract::body_text(&page.html), &page.expected);
        println!(
            "{:<22} {:>9.3} {:>7.3} {:>6.3}   {:.3}",
            page.name, found.precision, found.recall, found.f1, baseline.f1
        );
        ours.push(found);
        all.push(baseline);
    }
    let (ours, all) = (mean(&ours), mean(&all));
    println!("{:<22} {:>9.3} {:>7.3} {:>6.3}   {:.3}", "mean", ours.precision, ours.recall, ours.f1, all.f1);

    let bytes: usize = pages.iter().map(|p| p.html.len()).sum();
    let timed = |work: &dyn Fn(&str)| {
        let begin = Instant::now();
        let mut rounds = 0;
        while begin.elapsed() < Duration::from_secs(2) {
            pages.iter().for_each(|p| work(&p.html));
            rounds += 1;
        }
        (bytes * rounds) as f64 / 1e6 / begin.elapsed().as_secs_f64()
    };
    let full = timed(&|html| drop(extract::page(html, &base)));
    let text = timed(&|html| drop(extract::body_text(html)));
    println!("speed: extraction {full:.1} MB/s, baseline {text:.1} MB/s (ratio {:.2})", full / text);
}
