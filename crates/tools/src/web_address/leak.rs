//! Whether a text that is about to leave holds values of the conversation's data: as they are, percent-encoded, in base64,
//! base32 or hex, backwards, in a host name, or split by punctuation. Common words and dates do not count.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::percent_decode_str;

/// Text of tools that is looked through, newest last.
const MOST_TEXT: usize = 4 << 20;
const MOST_VALUES: usize = 100_000;
/// Letters and digits of a value that must not be in an address.
const SHORTEST: usize = 5;
/// The same for texts that are not of ASCII: one character says more there.
const SHORTEST_WIDE: usize = 3;
/// A single plain word may be anybody's.
const SHORTEST_WORD: usize = 12;
/// A query is made of words: only what is long enough to be a record counts there.
const SHORTEST_IN_QUERY: usize = 16;
/// An encoded run that is worth decoding.
const SHORTEST_RUN: usize = 6;

/// The values that must not leave.
pub(super) struct Leaks {
    values: HashSet<String>,
}

impl Leaks {
    /// The cells of what tools showed, without what the person said themself.
    pub(super) fn of(data: &[String], people: &str) -> Self {
        let mut values = HashSet::new();
        let mut left = MOST_TEXT;
        let said = plain(people);
        for text in data.iter().rev() {
            let Some(rest) = left.checked_sub(text.len()) else { break };
            left = rest;
            for value in cells(text) {
                if values.len() < MOST_VALUES && !said.contains(&value) {
                    values.insert(value);
                }
            }
        }
        Self { values }
    }

    pub(super) fn in_address(&self, address: &str) -> Option<&str> {
        let decoded = decoded(address);
        // Labels of a host and parts of a path carry one text between them.
        let joined: String =
            address.chars().filter(|c| !matches!(c, '.' | '/' | '-' | '_' | '&' | '=')).collect();
        let mut texts = vec![plain(&decoded), plain(&decoded.chars().rev().collect::<String>())];
        texts.extend(runs(address).chain(runs(&decoded)).chain(runs(&joined)));
        self.values.iter().find(|v| texts.iter().any(|t| t.contains(*v))).map(String::as_str)
    }

    pub(super) fn in_query(&self, query: &str) -> Option<&str> {
        let words = plain(&decoded(query));
        let encoded: Vec<String> = runs(query).collect();
        let found = |v: &&String| {
            (v.chars().count() >= SHORTEST_IN_QUERY && words.contains(*v))
                || encoded.iter().any(|t| t.contains(*v))
        };
        self.values.iter().find(found).map(String::as_str)
    }
}

/// Letters and digits only, in small letters.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The values of a table or a text that are worth guarding.
fn cells(text: &str) -> impl Iterator<Item = String> + '_ {
    let ends = |c: char| {
        matches!(
            c,
            '\n' | '\t'
                | '|'
                | ','
                | ';'
                | '"'
                | '，'
                | '；'
                | '、'
                | '('
                | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | '='
        )
    };
    text.split(ends).map(str::trim).filter(|cell| cell.len() <= 4_000).flat_map(|cell| {
        // `card: 4111…` holds a value of its own.
        let parts = [Some(cell), cell.split_once([':', '：']).map(|(_, v)| v.trim())];
        parts.into_iter().flatten().filter(|c| counts(c)).map(plain)
    })
}

fn counts(cell: &str) -> bool {
    let (mut letters, mut digits, mut wide, mut gaps) = (0, 0, 0, 0);
    for c in cell.chars() {
        match c {
            c if c.is_ascii_digit() => digits += 1,
            c if c.is_ascii_alphabetic() => letters += 1,
            c if c.is_alphanumeric() => wide += 1,
            _ => gaps += 1,
        }
    }
    // An address in a cell is where data may be asked to go, not the data.
    if is_date(cell) || cell.starts_with('<') || cell.contains("//") {
        return false;
    }
    match (letters, digits, wide) {
        (_, _, 1..) => letters + digits + wide >= SHORTEST_WIDE,
        (_, 0, 0) if gaps == 0 => letters >= SHORTEST_WORD,
        _ => letters + digits >= SHORTEST,
    }
}

/// `2024-01-02`, with or without a time: in many addresses by itself.
fn is_date(cell: &str) -> bool {
    let digits = cell.chars().filter(char::is_ascii_digit).count();
    let other = cell.chars().all(|c| c.is_ascii_digit() || "-/: .TZ+".contains(c));
    other
        && (4..=8).contains(&digits)
        && (cell.starts_with("19") || cell.starts_with("20"))
        && cell.contains(['-', '/'])
        || other && cell.contains(':')
}

/// Percent signs undone, also where they were doubled.
fn decoded(text: &str) -> String {
    let mut text = text.replace('+', " ");
    for _ in 0..3 {
        let next = percent_decode_str(&text).decode_utf8_lossy().into_owned();
        if next == text {
            break;
        }
        text = next;
    }
    text
}

/// What runs of letters and digits mean in base64, base32 and hex, wherever in them the encoded part begins.
fn runs(text: &str) -> impl Iterator<Item = String> + '_ {
    let split = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_'));
    let hexed = text
        .split(|c: char| !c.is_ascii_hexdigit())
        .filter(|run| run.len() >= SHORTEST_RUN)
        .flat_map(|run| (0..2).filter_map(move |at| hex::decode(even(run.get(at..)?)).ok()));
    text.split(split)
        // A path holds runs between its slashes too.
        .flat_map(|run| std::iter::once(run).chain(run.split('/')).chain(run.split(['-', '_'])))
        .filter(|run| run.len() >= SHORTEST_RUN)
        .flat_map(|run| (0..8).filter_map(move |at| run.get(at..)))
        .flat_map(|run| {
            [URL_SAFE_NO_PAD.decode(whole(run)).ok(), STANDARD_NO_PAD.decode(whole(run)).ok(), base32(run)]
        })
        .flatten()
        .chain(hexed)
        .map(|bytes| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            // Encoded twice.
            let again = URL_SAFE_NO_PAD
                .decode(whole(text.trim_end_matches('=')))
                .or_else(|_| hex::decode(text.trim()));
            let again = again.map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
            plain(&format!("{text} {again}"))
        })
        .filter(|text| text.len() >= SHORTEST_WIDE)
}

fn even(run: &str) -> &str {
    run.get(..run.len() & !1).unwrap_or(run)
}

/// Four letters hold three bytes: what is cut off in the middle of them is left out.
fn whole(run: &str) -> &str {
    let end = if run.len() % 4 == 1 { run.len() - 1 } else { run.len() };
    // What was decoded once may be any text.
    run.get(..end).unwrap_or(run)
}

fn base32(run: &str) -> Option<Vec<u8>> {
    let (mut out, mut bits, mut held) = (Vec::new(), 0u32, 0u32);
    for c in run.chars() {
        let value = match c.to_ascii_uppercase() {
            c @ 'A'..='Z' => u32::from(c) - u32::from('A'),
            c @ '2'..='7' => u32::from(c) - u32::from('2') + 26,
            _ => return None,
        };
        held = (held << 5 | value) & 0xfff;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from(held >> bits & 0xff).ok()?);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaks() -> Leaks {
        let data = "customer,phone,amount\n张伟民,13800138000,45120.75\nAlice Chen,alice@corp.example,981\n2024-01-02,x,1".to_owned();
        Leaks::of(&[data], "看看华东地区的销售")
    }

    #[test]
    fn values_are_found_however_they_are_written() {
        let b64 = URL_SAFE_NO_PAD.encode("张伟民,13800138000");
        let twice = URL_SAFE_NO_PAD.encode(&b64);
        let hexed = hex::encode("alice@corp.example");
        for address in [
            "https://e.example/?q=13800138000".to_owned(),
            "https://e.example/?q=%E5%BC%A0%E4%BC%9F%E6%B0%91".to_owned(),
            "https://e.example/?q=%25E5%25BC%25A0%25E4%25BC%259F%25E6%25B0%2591".to_owned(),
            "https://138-0013-8000.e.example/".to_owned(),
            "https://e.example/4/5/1/2/0/7/5".to_owned(),
            "https://e.example/00083100831".to_owned(),
            format!("https://e.example/{b64}"),
            format!("https://e.example/{twice}"),
            format!("https://{hexed}.e.example/"),
            "https://e.example/alice%20chen".to_owned(),
            format!("https://e.example/rates{hexed}"),
            format!("https://e.example/a{hexed}"),
            format!("https://e.example/rat{b64}"),
        ] {
            assert!(leaks().in_address(&address).is_some(), "{address}");
        }
        for address in
            ["https://stats.gov.cn/sj/zxfb/2024/01/02/t1.html", "https://e.example/customer/amount?page=2"]
        {
            assert_eq!(leaks().in_address(address), None, "{address}");
        }
    }

    #[test]
    fn queries_keep_their_words_and_lose_records() {
        let long = Leaks::of(&["id,note\n7,Quarterly margin of Hengda Steel is 4.71 percent".to_owned()], "");
        assert!(long.in_query("Quarterly margin of Hengda Steel is 4.71 percent").is_some());
        assert!(leaks().in_query(&hex::encode("13800138000")).is_some());
        assert_eq!(leaks().in_query("2024 年华东零售市场规模 Alice"), None);
    }
}
