//! Extraction over the corpus of page models, and over pages made to hurt.

use ba_web::extract::{self, Page};
use url::Url;

use crate::quality::{Score, corpus, mean, plain, score};

fn read(html: &str) -> Page {
    extract::page(html, &Url::parse("https://site.example/path/page.html").unwrap())
}

#[test]
fn the_main_text_is_found_on_the_corpus() {
    let pages = corpus();
    assert!(pages.len() >= 30, "{}", pages.len());
    let scored: Vec<(String, Score)> = pages
        .iter()
        .map(|p| {
            let page = read(&p.html);
            (p.name.clone(), score(&plain(&page.title, &page.markdown), &p.expected))
        })
        .collect();
    let all: Vec<Score> = scored.iter().map(|(_, s)| *s).collect();
    let mean = mean(&all);
    assert!(mean.f1 >= 0.9, "mean F1 {:.3}", mean.f1);
    let worst = scored.iter().min_by(|a, b| a.1.f1.total_cmp(&b.1.f1)).unwrap();
    assert!(worst.1.f1 >= 0.6, "{}: {:?}", worst.0, worst.1);
}

#[test]
fn titles_authors_and_dates_are_told() {
    let pages = corpus();
    let page = |name: &str| read(&pages.iter().find(|p| p.name == name).unwrap().html);
    for (name, title, author, date) in [
        (
            "zh-portal-news",
            "前三季度外贸进出口同比增长4.8% 民营企业占比过半",
            Some("李卫东"),
            Some("2025-10-14"),
        ),
        ("zh-gov-notice", "关于做好2025年中小企业数字化转型补贴申报工作的通知", None, Some("2025-03-18")),
        (
            "en-news",
            "Port strike enters second week as retailers warn of empty shelves",
            Some("Maria Okafor"),
            Some("2025-09-22"),
        ),
        ("zh-wechat", "一家社区咖啡馆的盈亏平衡账本", Some("老麦"), Some("2025-05-21")),
        (
            "en-paper-landing",
            "Price stickiness in online grocery: evidence from 14 retailers",
            Some("Sofia Lund"),
            Some("2024-06-01"),
        ),
        ("en-wiki", "Bullwhip effect", None, None),
        ("unseen-zh-discuz", "外贸尾货清仓怎么定价不亏", None, None),
    ] {
        let found = page(name);
        assert_eq!(found.title, title, "{name}");
        assert_eq!(found.author.as_deref(), author, "{name}");
        assert_eq!(found.date.as_deref(), date, "{name}");
    }
}

#[test]
fn structure_becomes_markdown() {
    let html = r#"<html><head><title>T</title></head><body><article><h1>T</h1>
        <p>One <b>bold</b> word, a <a href="../b?x=1">link</a>, <a href="javascript:x()">no link</a> and <code>code</code>.
        This paragraph is long enough to be taken for prose by anyone who looks at it, including machines.</p>
        <h2>Data</h2>
        <table><thead><tr><th>Name</th><th colspan=2>Both</th></tr></thead>
        <tr><td rowspan=2>A|B</td><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>
        <ul><li>first<ul><li>inner</li></ul></li><li>second</li></ul><ol start=3><li>three</li></ol>
        <pre><code class="language-sql">select 1
  from t;</code></pre><blockquote><p>said</p></blockquote></article></body></html>"#;
    let page = read(html);
    assert_eq!(page.title, "T");
    insta::assert_snapshot!(page.markdown);
    assert_eq!(page.links.len(), 1);
    assert_eq!(page.links[0].url.as_str(), "https://site.example/b?x=1");
}

/// Each of these takes quadratic time or memory in a parser that is given it as it is.
#[test]
fn pages_made_to_hurt_are_answered() {
    let mut distinct = String::from("<p>");
    for i in 0..2_000 {
        distinct.push_str(&format!("<b id=b{i}><i class=c{i}>"));
    }
    let cases: Vec<(&str, String)> = vec![
        ("deep blocks", "<div>".repeat(100_000) + "needle"),
        ("deep lists", "<ul><li>".repeat(20_000) + "needle"),
        ("deep tables", "<table><tr><td>".repeat(20_000) + "needle"),
        ("deep quotes", "<blockquote>".repeat(100_000) + "needle"),
        ("open formatting", distinct.clone() + &"<p>x".repeat(20_000) + "needle"),
        ("crossed formatting", "<a><b><i><u></a></b></i></u>".repeat(20_000) + "needle"),
        ("one long word", format!("<p>{}</p>needle", "a".repeat(5_000_000))),
        ("one long line", format!("<p>{}</p>needle", "word ".repeat(1_000_000))),
        ("long attribute", format!("<p title=\"{}\">needle", "x".repeat(5_000_000))),
        ("open attribute", format!("<p title=\"{}> needle", "x> ".repeat(300_000))),
        ("open comment", format!("<p>needle</p><!-- {}", "- ".repeat(1_000_000))),
        ("open script", format!("<p>needle</p><script>{}", "var x;".repeat(500_000))),
        ("brackets", "<".repeat(1_000_000) + "<p>needle"),
        ("entities", "&amp;&#x41;&bogus;&".repeat(100_000) + "<p>needle"),
        ("line breaks", "<br>".repeat(200_000) + "<p>needle"),
        (
            "wide table",
            format!("<table>{}</table><p>needle", "<tr><td colspan=99999 rowspan=99999>x".repeat(2_000)),
        ),
        ("many links", "<a href='/x'>y</a> ".repeat(20_000) + "<p>needle"),
        ("many paragraphs", "<p>text, and more of it, comma</p>".repeat(20_000) + "<p>needle"),
        ("nested frames", "<frameset>".repeat(10_000) + "<noframes>needle"),
        ("null bytes", "<p>nee\0dle needle \u{feff}</p>".repeat(1_000)),
        ("open select", format!("<select><option>x<p>needle{}", "<svg><select>".repeat(50_000))),
        ("select", "<select><option>".repeat(50_000) + "</select><p>needle"),
        ("svg and math", "<svg><math><mi>".repeat(20_000) + "</svg><p>needle"),
        ("templates", "<template>".repeat(20_000) + "needle"),
    ];
    for (name, html) in cases {
        let page = read(&html);
        let lost = ["nested frames", "templates", "open attribute", "svg and math", "many links"];
        assert!(page.markdown.contains("needle") || lost.contains(&name), "{name}: {:.80}", page.markdown);
        assert!(page.markdown.len() <= html.len() * 2 + 200, "{name}: {} bytes", page.markdown.len());
    }
}

#[test]
fn empty_and_odd_pages_are_answered() {
    for html in [
        "",
        " ",
        "<",
        "<>",
        "</",
        "<!",
        "<html>",
        "plain text",
        "\u{0}",
        "<p",
        "<p class=",
        "<!--",
        "<script>",
        "]]>",
    ] {
        let page = read(html);
        assert!(page.markdown.len() < 40, "{html:?}: {page:?}");
    }
    assert_eq!(read("plain text").markdown, "plain text");
}
