//! Title, author and date of a page, from what it says for machines and then from what it shows.

use dom_query::{Document, NodeRef};
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Meta {
    pub title: String,
    pub author: Option<String>,
    pub date: Option<String>,
}

const MAX_TITLE: usize = 300;
const MAX_LD_JSON: usize = 256 * 1024;

pub(super) fn read(document: &Document) -> Meta {
    let tags = Tags::read(document);
    let ld = linked_data(document);
    Meta {
        title: title(document, &tags, ld.as_ref()),
        author: author(document, &tags, ld.as_ref()),
        date: date(document, &tags, ld.as_ref()),
    }
}

/// `<meta>` names and properties in lower case.
struct Tags(Vec<(String, String)>);

impl Tags {
    fn read(document: &Document) -> Self {
        let mut all = Vec::new();
        for node in document.select("meta[content]").nodes().iter().take(300) {
            let name = ["property", "name", "itemprop"].iter().find_map(|a| node.attr(a));
            if let (Some(name), Some(content)) = (name, node.attr("content")) {
                let content = tidy(&content);
                if !content.is_empty() {
                    all.push((name.to_lowercase(), content));
                }
            }
        }
        Self(all)
    }

    fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.0.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str()))
    }

    fn all(&self, name: &str) -> Vec<&str> {
        self.0.iter().filter(|(n, _)| n == name).map(|(_, v)| v.as_str()).collect()
    }
}

/// The first object of the page's JSON-LD that looks like something written.
fn linked_data(document: &Document) -> Option<Value> {
    let written = |v: &Value| v.get("headline").is_some() || v.get("datePublished").is_some();
    for script in document.select("script[type='application/ld+json']").nodes().iter().take(5) {
        let text = script.text();
        let Some(value) = Some(&text)
            .filter(|t| t.len() <= MAX_LD_JSON)
            .and_then(|t| serde_json::from_str::<Value>(t).ok())
        else {
            continue;
        };
        let mut queue = vec![value];
        while let Some(value) = queue.pop() {
            match value {
                Value::Array(items) => queue.extend(items.into_iter().take(50)),
                value if written(&value) => return Some(value),
                Value::Object(mut object) => queue.extend(object.remove("@graph")),
                _ => {}
            }
        }
    }
    None
}

fn title(document: &Document, tags: &Tags, ld: Option<&Value>) -> String {
    let shown = tidy(&document.select_single("title").text());
    let headline = ld.and_then(|v| v["headline"].as_str()).map(tidy);
    let named = tags
        .first(&["og:title", "articletitle", "citation_title", "twitter:title", "dc.title"])
        .map(str::to_owned);
    if let Some(given) = headline.or(named).filter(|t| !t.is_empty()) {
        return short(&given, MAX_TITLE);
    }
    let headings = document.select("h1, h2");
    let headings: Vec<String> = headings
        .nodes()
        .iter()
        .take(10)
        .map(|h| tidy(&h.text()))
        .filter(|t| t.chars().count() >= 2)
        .collect();
    if shown.is_empty() {
        return short(headings.first().map_or("", String::as_str), MAX_TITLE);
    }
    // A heading that the title repeats is the title without the site's name; so is a part of it inside a heading.
    let repeated = |h: &&String| shown.contains(h.as_str()) && h.chars().count() * 4 >= shown.chars().count();
    let parts = || shown.split(" - ").flat_map(|p| p.split(['_', '|', '｜', '—', '–'])).map(str::trim);
    let inside = |part: &&str| part.chars().count() >= 6 && headings.iter().any(|h| h.contains(*part));
    match headings.iter().find(repeated) {
        Some(heading) => short(heading, MAX_TITLE),
        None => match parts().find(inside) {
            Some(part) => short(part, MAX_TITLE),
            None => short(&without_site(&shown), MAX_TITLE),
        },
    }
}

/// Cuts ` - Site`, `_频道_网站` and the like, when a real title is left.
fn without_site(title: &str) -> String {
    for separator in ["_", " | ", " - ", " – ", " — ", "｜", "-"] {
        if let Some((first, rest)) = title.split_once(separator) {
            let enough = first.chars().count() >= 8 && first.chars().count() * 2 >= rest.chars().count();
            let kept = first.trim();
            if enough && (separator != "-" || !kept.is_ascii()) {
                return kept.to_owned();
            }
        }
    }
    title.to_owned()
}

fn author(document: &Document, tags: &Tags, ld: Option<&Value>) -> Option<String> {
    let name_of = |v: &Value| v.as_str().or_else(|| v["name"].as_str()).map(tidy);
    let from_ld = ld.and_then(|v| match &v["author"] {
        Value::Array(all) => {
            let names: Vec<String> = all.iter().take(5).filter_map(name_of).collect();
            (!names.is_empty()).then(|| names.join(", "))
        }
        one => name_of(one),
    });
    let cited = tags.all("citation_author");
    let cited = (!cited.is_empty()).then(|| cited.iter().take(5).copied().collect::<Vec<_>>().join(", "));
    let named = tags
        .first(&["author", "article:author", "og:article:author", "dc.creator", "byl"])
        .filter(|a| !a.starts_with("http"))
        .map(str::to_owned);
    let linked = || Some(tidy(&document.select_single("[rel=author], [itemprop=author]").text()));
    let found = from_ld.or(cited).or(named).or_else(linked)?;
    (!found.is_empty() && found.chars().count() <= 120).then_some(found)
}

fn date(document: &Document, tags: &Tags, ld: Option<&Value>) -> Option<String> {
    let names = [
        "article:published_time",
        "og:article:published_time",
        "datepublished",
        "pubdate",
        "publishdate",
        "citation_publication_date",
        "dc.date",
        "dc.date.issued",
        "date",
        "og:release_date",
        "article:modified_time",
    ];
    let from_ld = ld.and_then(|v| v["datePublished"].as_str()).map(str::to_owned);
    let from_tags = tags.first(&names).map(str::to_owned);
    let from_time = || document.select_single("time[datetime]").attr("datetime").map(|d| d.to_string());
    let given = from_ld.or(from_tags).or_else(from_time).or_else(|| shown_date(document))?;
    let given = tidy(&given);
    Some(day_in(&given).unwrap_or_else(|| short(&given, 40))).filter(|d| !d.is_empty())
}

/// A date in an element that is named for one.
fn shown_date(document: &Document) -> Option<String> {
    let body = document.body()?;
    let named = |n: &NodeRef<'_>| {
        let names = [n.class(), n.id_attr()];
        let words = ["date", "time", "info", "meta", "source", "src"];
        names.iter().flatten().any(|name| words.iter().any(|w| name.to_lowercase().contains(w)))
    };
    let places = body.descendants_it().take(20_000).filter(|n| n.is_element() && named(n));
    places.take(40).find_map(|n| {
        let text = n.text();
        if text.len() > 2_000 { None } else { day_in(&text) }
    })
}

/// The first `2025-03-18`, `2025/3/18` or `2025年3月18日` in a text, as `YYYY-MM-DD`.
pub(super) fn day_in(text: &str) -> Option<String> {
    let chars: Vec<char> = text.chars().take(4_000).collect();
    let number = |from: usize, most: usize| -> Option<(u32, usize)> {
        let digits: String =
            chars.get(from..)?.iter().take(most).take_while(|c| c.is_ascii_digit()).collect();
        Some((digits.parse().ok()?, from + digits.len()))
    };
    for start in 0..chars.len() {
        let begins = chars[start].is_ascii_digit() && (start == 0 || !chars[start - 1].is_ascii_digit());
        if !begins {
            continue;
        }
        let read = || -> Option<String> {
            let (year, at) = number(start, 5)?;
            let separator = *chars.get(at).filter(|c| matches!(c, '-' | '/' | '.' | '年'))?;
            let (month, at) = number(at + 1, 3)?;
            let next = *chars.get(at)?;
            let fits = next == separator || (separator == '年' && next == '月');
            let (day, _) = number(at + 1, 3)?;
            let real = (1990..=2100).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
            (fits && real).then(|| format!("{year:04}-{month:02}-{day:02}"))
        };
        if let Some(day) = read() {
            return Some(day);
        }
    }
    None
}

fn tidy(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().filter(|c| !c.is_control()).collect()
}

fn short(text: &str, most: usize) -> String {
    ba_protocol::text::shorten(text, most)
}
