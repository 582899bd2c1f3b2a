//! Bytes to text: byte order mark, header, `<meta>`, detection, in this order, and none of them believed when the bytes
//! themselves say otherwise.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Where a `<meta>` may be; the standard says 1024, many pages are later.
const PRESCAN: usize = 4096;
/// Enough to tell encodings apart.
const DETECT: usize = 512 * 1024;
/// So many characters beyond ASCII, all of them valid UTF-8, are no accident.
const SURELY_UTF8: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    pub text: String,
    pub encoding: &'static str,
    /// Some bytes fit no encoding and were replaced.
    pub lossy: bool,
}

pub fn decode(bytes: &[u8], content_type: Option<&str>) -> Decoded {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return read(bytes, encoding);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let beyond = text.chars().filter(|c| !c.is_ascii()).take(SURELY_UTF8).count();
        // A plain ASCII text may still be ISO-2022-JP or UTF-7 in name; as UTF-8 it is at least harmless.
        if beyond >= SURELY_UTF8 || beyond == 0 && !is_escaped(bytes) {
            return Decoded { text: text.to_owned(), encoding: UTF_8.name(), lossy: false };
        }
    }
    let header = content_type.and_then(|t| label_after(t, "charset"));
    let claims = [header.and_then(|l| Encoding::for_label(l.as_bytes())), prescan(bytes)];
    let mut best: Option<(usize, Decoded)> = None;
    for encoding in claims.into_iter().flatten().chain([detect(bytes)]) {
        if best.as_ref().is_some_and(|(_, b)| b.encoding == encoding.name()) {
            continue;
        }
        let decoded = read(bytes, encoding);
        if !decoded.lossy {
            return decoded;
        }
        let wrong = decoded.text.matches('\u{fffd}').count();
        if best.as_ref().is_none_or(|(least, _)| wrong < *least) {
            best = Some((wrong, decoded));
        }
    }
    best.map(|(_, decoded)| decoded).unwrap_or_else(|| read(bytes, UTF_8))
}

fn read(bytes: &[u8], encoding: &'static Encoding) -> Decoded {
    let (text, used, lossy) = encoding.decode(bytes);
    Decoded { text: text.into_owned(), encoding: used.name(), lossy }
}

fn is_escaped(bytes: &[u8]) -> bool {
    bytes.contains(&0x1b)
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let head = &bytes[..bytes.len().min(DETECT)];
    detector.feed(head, head.len() == bytes.len());
    detector.guess(None, Utf8Detection::Allow)
}

/// The charset a page names in a `<meta>` or in its XML declaration.
fn prescan(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(PRESCAN)]).to_ascii_lowercase();
    let declared = head
        .trim_start()
        .strip_prefix("<?xml")
        .and_then(|rest| label_after(rest.split('>').next().unwrap_or_default(), "encoding"));
    let meta = || {
        head.split("<meta")
            .skip(1)
            .find_map(|tag| label_after(tag.split('>').next().unwrap_or_default(), "charset"))
    };
    let encoding = Encoding::for_label(declared.or_else(meta)?.as_bytes())?;
    // It could be read so far, so it is not UTF-16, whatever it says.
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

/// The label in `charset = "label"`.
fn label_after(text: &str, word: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let mut rest = lower.as_str();
    while let Some(at) = rest.find(word) {
        rest = &rest[at + word.len()..];
        if let Some(value) = rest.trim_start().strip_prefix('=') {
            let value = value.trim_start().trim_start_matches(['"', '\'']);
            let end =
                value.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '>' | '?' | ','));
            let label = &value[..end.unwrap_or(value.len())];
            return (!label.is_empty()).then(|| label.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, GBK, SHIFT_JIS, WINDOWS_1252};

    use super::*;

    const NEWS: &str = "国家统计局今天公布数据，前三季度社会消费品零售总额同比增长百分之六点八。";

    fn gbk(text: &str) -> Vec<u8> {
        GBK.encode(text).0.into_owned()
    }

    #[test]
    fn gbk_is_known_by_header_by_meta_and_by_itself() {
        let by_header = decode(&gbk(NEWS), Some("text/html; Charset=\"GB2312\""));
        assert_eq!((by_header.text.as_str(), by_header.encoding), (NEWS, "GBK"));
        for meta in [
            "<html><head><meta charset=gbk>",
            "<meta http-equiv=\"Content-Type\" content=\"text/html; charset = gb2312\" />",
            "<?xml version=\"1.0\" encoding='GBK'?>",
        ] {
            let page = format!("{meta}<p>{NEWS}");
            assert_eq!(decode(&gbk(&page), Some("text/html")).text, page);
        }
        let detected = decode(&gbk(NEWS), None);
        assert_eq!((detected.text.as_str(), detected.lossy), (NEWS, false));
    }

    #[test]
    fn a_charset_that_lies_is_not_believed() {
        for lie in ["text/html; charset=utf-8", "text/html; charset=shift_jis", "text/html; charset=nonsense"]
        {
            assert_eq!(decode(&gbk(NEWS), Some(lie)).text, NEWS, "{lie}");
        }
        for lie in ["text/html; charset=gbk", "text/html; charset=iso-8859-1", "text/html; charset=utf-16"] {
            assert_eq!(decode(NEWS.as_bytes(), Some(lie)).text, NEWS, "{lie}");
        }
        let page = format!("<meta charset=utf-8><p>{NEWS}");
        assert_eq!(decode(&gbk(&page), None).text, page);
        let page = format!("<meta charset=utf-16><p>{NEWS}");
        assert_eq!(decode(page.as_bytes(), None).text, page);
    }

    #[test]
    fn other_encodings_and_marks() {
        let japanese = "日本の経済成長率は前年比で増加しました。";
        let bytes = SHIFT_JIS.encode(japanese).0.into_owned();
        assert_eq!(decode(&bytes, Some("text/html; charset=Shift_JIS")).text, japanese);
        let taiwan = "行政院主計總處公布第三季經濟成長率";
        assert_eq!(decode(&BIG5.encode(taiwan).0, Some("text/html; charset=big5")).text, taiwan);
        let french = "Le chiffre d’affaires a été très élevé à l’été";
        assert_eq!(decode(&WINDOWS_1252.encode(french).0, None).text, french);
        let mut marked = vec![0xff, 0xfe];
        marked.extend("价格".encode_utf16().flat_map(u16::to_le_bytes));
        assert_eq!(decode(&marked, Some("text/plain; charset=utf-8")).text, "价格");
    }

    #[test]
    fn any_bytes_give_text() {
        let noise: Vec<u8> = (0..=255u8).cycle().take(5_000).collect();
        assert!(!decode(&noise, Some("text/html; charset=utf-8")).text.is_empty());
        assert_eq!(decode(b"", Some("; charset=")).text, "");
        assert_eq!(decode(b"caf\xc3\xa9", None).text, "café");
    }
}
