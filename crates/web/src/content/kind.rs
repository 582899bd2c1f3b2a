//! What a body is: by its header, and by its first bytes where the header says nothing or is known to lie.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Html,
    Pdf,
    Csv,
    Json,
    /// XML of any kind; whether it is a feed shows when it is read.
    Xml,
    Text,
    /// Nothing that can be read as text: the type as announced, or `binary`.
    Other(String),
}

/// `path` is the URL's, for servers that announce nothing better than plain text.
pub fn kind_of(content_type: Option<&str>, path: &str, body: &[u8]) -> Kind {
    let announced = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    let announced = announced.trim().to_ascii_lowercase();
    let ending =
        path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, e)| e.to_ascii_lowercase());
    let ending = ending.as_deref().unwrap_or_default();
    if body.starts_with(b"%PDF-") {
        return Kind::Pdf;
    }
    match announced.as_str() {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        "application/pdf" | "application/x-pdf" => Kind::Other("application/pdf".to_owned()),
        "text/csv" | "application/csv" | "text/tab-separated-values" => Kind::Csv,
        "application/json" | "application/ld+json" | "application/geo+json" | "application/x-ndjson" => {
            Kind::Json
        }
        "application/xml" | "text/xml" => Kind::Xml,
        other if other.ends_with("+json") => Kind::Json,
        // A picture, though it is XML.
        "image/svg+xml" => Kind::Other(announced),
        other if other.ends_with("+xml") => Kind::Xml,
        "text/plain" => match ending {
            "csv" | "tsv" => Kind::Csv,
            "json" => Kind::Json,
            _ if is_binary(body) => Kind::Other("binary".to_owned()),
            _ => Kind::Text,
        },
        other if other.starts_with("text/") || other == "application/javascript" => Kind::Text,
        "" | "application/octet-stream" | "binary/octet-stream" | "unknown/unknown" => sniff(ending, body),
        _ => Kind::Other(announced),
    }
}

fn sniff(ending: &str, body: &[u8]) -> Kind {
    if is_binary(body) {
        return Kind::Other("binary".to_owned());
    }
    let head = String::from_utf8_lossy(&body[..body.len().min(1024)])
        .trim_start_matches('\u{feff}')
        .trim_start()
        .to_ascii_lowercase();
    match ending {
        "csv" | "tsv" => Kind::Csv,
        "json" => Kind::Json,
        _ if head.starts_with("<?xml") && !head.contains("<html") => Kind::Xml,
        _ if head.starts_with("<rss") || head.starts_with("<feed") => Kind::Xml,
        _ if head.starts_with('<') => Kind::Html,
        _ if head.starts_with(['{', '[']) => Kind::Json,
        _ => Kind::Text,
    }
}

/// A zero byte among the first ones is in no text but UTF-16, which begins with its mark.
fn is_binary(body: &[u8]) -> bool {
    let head = &body[..body.len().min(1024)];
    head.contains(&0) && !head.starts_with(&[0xff, 0xfe]) && !head.starts_with(&[0xfe, 0xff])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_what_it_is_and_the_bytes_where_it_does_not() {
        let html = b"<!DOCTYPE html><p>x".as_slice();
        let cases: &[(Option<&str>, &str, &[u8], Kind)] = &[
            (Some("Text/HTML; charset=gbk"), "/", html, Kind::Html),
            (None, "/", html, Kind::Html),
            (None, "/a", b"plain words", Kind::Text),
            (None, "/a", b" {\"a\": 1}", Kind::Json),
            (None, "/a", b"\xef\xbb\xbf<?xml version='1.0'?><rss/>", Kind::Xml),
            (Some("application/octet-stream"), "/a.csv", b"a,b\n1,2", Kind::Csv),
            (Some("application/octet-stream"), "/a.bin", b"\x7fELF\0\0", Kind::Other("binary".into())),
            (Some("text/plain"), "/a.txt", b"PK\x03\x04\0\0", Kind::Other("binary".into())),
            (Some("text/plain"), "/a.csv", b"a,b", Kind::Csv),
            (Some("text/html"), "/a", b"%PDF-1.7", Kind::Pdf),
            (Some("application/pdf"), "/a", b"<html>blocked</html>", Kind::Other("application/pdf".into())),
            (Some("application/rss+xml"), "/a", b"<rss/>", Kind::Xml),
            (Some("application/vnd.api+json"), "/a", b"{}", Kind::Json),
            (Some("image/svg+xml"), "/a", b"<svg/>", Kind::Other("image/svg+xml".into())),
            (Some("image/png"), "/a", b"\x89PNG", Kind::Other("image/png".into())),
            (Some("text/markdown"), "/a.md", b"# x", Kind::Text),
            (Some("text/plain"), "/a", b"\xff\xfea\0b\0", Kind::Text),
        ];
        for (content_type, path, body, expected) in cases {
            assert_eq!(&kind_of(*content_type, path, body), expected, "{content_type:?} {path}");
        }
    }
}
