//! RSS and Atom feeds. Entities of a document type are not expanded, and nothing outside is read.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

const MAX_ENTRIES: usize = 500;
/// Deeper documents are no feeds.
const MAX_DEPTH: usize = 64;
/// Bytes kept of one field.
const MAX_FIELD: usize = 64 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Feed {
    pub title: String,
    pub entries: Vec<Entry>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    pub title: String,
    pub link: String,
    pub date: String,
    /// As in the feed: often HTML.
    pub summary: String,
}

/// The feed, unless the document is another kind of XML. A broken end does not lose what came before it.
pub fn parse(xml: &str) -> Option<Feed> {
    let mut reader = Reader::from_str(xml);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    config.expand_empty_elements = true;
    let mut state = State::default();
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => state.open(&tag)?,
            Ok(Event::End(_)) => state.close(),
            Ok(Event::Text(text)) => state.text(&text.decode().unwrap_or_default()),
            Ok(Event::CData(text)) => state.text(&text.decode().unwrap_or_default()),
            Ok(Event::GeneralRef(name)) => {
                let character = name.resolve_char_ref().ok().flatten().map(String::from);
                let name = name.decode().unwrap_or_default();
                let named = quick_xml::escape::resolve_predefined_entity(&name);
                state.text(character.as_deref().or(named).unwrap_or(" "));
            }
            Ok(Event::Eof) | Err(_) => return state.finish(),
            Ok(_) => {}
        }
        if state.feed.entries.len() >= MAX_ENTRIES {
            return state.finish();
        }
    }
}

#[derive(Default)]
struct State {
    feed: Feed,
    /// Local names of the open elements.
    path: Vec<String>,
    entry: Option<Entry>,
    is_feed: bool,
    field: String,
}

impl State {
    /// `None` when this is no feed.
    fn open(&mut self, tag: &BytesStart<'_>) -> Option<()> {
        let name = String::from_utf8_lossy(tag.local_name().as_ref()).to_ascii_lowercase();
        if self.path.is_empty() {
            self.is_feed = matches!(name.as_str(), "rss" | "feed" | "rdf");
        }
        if !self.is_feed || self.path.len() >= MAX_DEPTH {
            return None;
        }
        if matches!(name.as_str(), "item" | "entry") {
            self.entry = Some(Entry::default());
        }
        if name == "link"
            && let Some(entry) = &mut self.entry
        {
            atom_link(tag, entry);
        }
        self.field.clear();
        self.path.push(name);
        Some(())
    }

    fn text(&mut self, text: &str) {
        if self.field.len() < MAX_FIELD {
            self.field.push_str(text);
        }
    }

    fn close(&mut self) {
        let Some(name) = self.path.pop() else { return };
        let value = std::mem::take(&mut self.field).trim().to_owned();
        let parent = self.path.last().map(String::as_str).unwrap_or_default();
        match (&mut self.entry, name.as_str()) {
            (entry @ Some(_), "item" | "entry") => self.feed.entries.extend(entry.take()),
            (Some(entry), _) if matches!(parent, "item" | "entry") => fill(entry, &name, value),
            (None, "title") if matches!(parent, "channel" | "feed") => self.feed.title = value,
            _ => {}
        }
    }

    fn finish(mut self) -> Option<Feed> {
        self.feed.entries.extend(self.entry.take().filter(|e| *e != Entry::default()));
        self.is_feed.then_some(self.feed)
    }
}

fn fill(entry: &mut Entry, name: &str, value: String) {
    let slot = match name {
        "title" => &mut entry.title,
        "link" => &mut entry.link,
        "pubdate" | "published" | "date" | "updated" => &mut entry.date,
        "description" | "summary" | "encoded" | "content" => &mut entry.summary,
        _ => return,
    };
    if slot.is_empty() {
        *slot = value;
    }
}

/// Atom gives the address as an attribute.
fn atom_link(tag: &BytesStart<'_>, entry: &mut Entry) {
    let value = |name: &str| {
        let attribute = tag.try_get_attribute(name).ok().flatten()?;
        let raw = String::from_utf8_lossy(&attribute.value).into_owned();
        Some(quick_xml::escape::unescape(&raw).map(std::borrow::Cow::into_owned).unwrap_or(raw))
    };
    let rel = value("rel").unwrap_or_else(|| "alternate".to_owned());
    if let Some(href) = value("href").filter(|_| rel == "alternate" && entry.link.is_empty()) {
        entry.link = href;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rss_with_cdata_and_entities() {
        let feed = parse(
            "<?xml version='1.0'?><rss version='2.0'><channel><title>统计 &amp; 数据</title><link>https://a.example/</link>\
             <item><title>GDP &lt;3 &#24180;</title><link>https://a.example/1</link><pubDate>Mon, 01 Jan 2024</pubDate>\
             <description><![CDATA[<p>增长 <b>5%</b></p>]]></description></item>\
             <item><title>Two</title><guid>x</guid></item></channel></rss>",
        )
        .unwrap();
        assert_eq!(feed.title, "统计 & 数据");
        let first = &feed.entries[0];
        assert_eq!((first.title.as_str(), first.link.as_str()), ("GDP <3 年", "https://a.example/1"));
        assert_eq!(
            (first.date.as_str(), first.summary.as_str()),
            ("Mon, 01 Jan 2024", "<p>增长 <b>5%</b></p>")
        );
        assert_eq!(feed.entries[1].title, "Two");
    }

    #[test]
    fn atom_and_rdf() {
        let atom = parse(
            "<feed xmlns='http://www.w3.org/2005/Atom'><title>News</title><entry><title>A</title>\
             <link rel='self' href='https://x/self'/><link href='https://x/1?a=1&amp;b=2'/><updated>2024-01-02</updated>\
             <summary>short</summary></entry></feed>",
        )
        .unwrap();
        assert_eq!(atom.entries[0].link, "https://x/1?a=1&b=2");
        assert_eq!(atom.entries[0].date, "2024-01-02");
        let rdf = parse(
            "<rdf:RDF xmlns:rdf='r' xmlns:dc='d'><channel><title>Old</title></channel>\
             <item><title>B</title><link>https://y/</link><dc:date>2001</dc:date></item></rdf:RDF>",
        )
        .unwrap();
        assert_eq!((rdf.title.as_str(), rdf.entries[0].date.as_str()), ("Old", "2001"));
    }

    #[test]
    fn hostile_xml_is_harmless() {
        let lol = "<?xml version='1.0'?><!DOCTYPE rss [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'>\
                   <!ENTITY x SYSTEM 'file:///etc/passwd'>]><rss><channel><item><title>&b;&x;</title></item></channel></rss>";
        assert_eq!(parse(lol).unwrap().entries[0].title, "");
        assert_eq!(parse("<html><body>no</body></html>"), None);
        assert_eq!(parse("no xml at all"), None);
        assert_eq!(parse(&"<rss>".repeat(100_000)), None);
        let cut = parse("<rss><channel><item><title>kept</title><link>https://z/").unwrap();
        assert_eq!(cut.entries[0].title, "kept");
        let many = format!("<rss>{}", "<item><title>t</title></item>".repeat(2_000));
        assert_eq!(parse(&many).unwrap().entries.len(), MAX_ENTRIES);
    }
}
