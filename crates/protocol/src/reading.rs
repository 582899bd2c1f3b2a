//! Checks what a person chose about how a file is read (SPEC B8), as far as it can be known without the file.

use crate::file::{FileProfile, IngestOptions};
use crate::text::{one_line, shorten};

/// A header further down than this is a mistake.
pub const MAX_HEADER_ROW: u32 = 1000;
const MAX_TYPES: usize = 2000;
const MAX_NAME: usize = 300;

/// What Python's codecs are called, the name that is kept first.
const ENCODINGS: &[&[&str]] = &[
    &["utf-8", "utf8", "utf-8-sig", "utf-8-bom"],
    &["utf-16", "utf16"],
    &["utf-16-le", "utf-16le"],
    &["utf-16-be", "utf-16be"],
    &["utf-32"],
    &["ascii", "us-ascii"],
    &["gb18030", "gbk", "gb2312", "cp936"],
    &["big5", "big5-tw", "cp950"],
    &["big5hkscs", "big5-hkscs"],
    &["shift_jis", "shift-jis", "sjis", "cp932", "ms932"],
    &["euc_jp", "euc-jp", "eucjp"],
    &["iso2022_jp", "iso-2022-jp"],
    &["euc_kr", "euc-kr", "euckr", "cp949", "uhc"],
    &["koi8-r"],
    &["koi8-u"],
    &["cp1250", "windows-1250"],
    &["cp1251", "windows-1251"],
    &["cp1252", "windows-1252"],
    &["cp1253", "windows-1253"],
    &["cp1254", "windows-1254"],
    &["cp1255", "windows-1255"],
    &["cp1256", "windows-1256"],
    &["cp1257", "windows-1257"],
    &["cp1258", "windows-1258"],
    &["cp874", "windows-874", "tis-620"],
    &["cp437"],
    &["cp850"],
    &["cp866"],
    &["mac_roman", "macintosh", "mac-roman"],
    &["iso8859-1", "iso-8859-1", "latin-1", "latin1"],
    &["iso8859-2", "iso-8859-2", "latin-2", "latin2"],
    &["iso8859-5", "iso-8859-5"],
    &["iso8859-7", "iso-8859-7"],
    &["iso8859-8", "iso-8859-8"],
    &["iso8859-9", "iso-8859-9", "latin-5", "latin5"],
    &["iso8859-15", "iso-8859-15", "latin-9", "latin9"],
];

/// A choice that cannot be followed; `code` is stable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadChoice {
    pub code: &'static str,
    pub message: String,
}

fn bad(code: &'static str, message: String) -> BadChoice {
    BadChoice { code, message }
}

/// The codec that a name means, whatever its spelling.
pub fn encoding_named(given: &str) -> Option<&'static str> {
    let plain = |name: &str| name.trim().to_lowercase().replace('_', "-");
    let wanted = plain(given);
    let found = ENCODINGS.iter().find(|names| names.iter().any(|name| plain(name) == wanted));
    found.and_then(|names| names.first().copied())
}

impl IngestOptions {
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The same choices with an encoding by its kept name, or what is wrong with them.
    pub fn checked(mut self) -> Result<Self, BadChoice> {
        if let Some(given) = &self.encoding {
            let known = encoding_named(given).ok_or_else(|| {
                let names: Vec<&str> = ENCODINGS.iter().filter_map(|names| names.first().copied()).collect();
                let (given, names) = (shorten(&one_line(given), 40), names.join(", "));
                bad("unknown_encoding", format!("there is no encoding `{given}`; choose one of: {names}"))
            })?;
            self.encoding = Some(known.to_owned());
        }
        if let Some(row) = self.header_row.filter(|row| *row > MAX_HEADER_ROW) {
            let message = format!("header row {row} is too far down; it is 0 (none) to {MAX_HEADER_ROW}");
            return Err(bad("header_row_out_of_range", message));
        }
        let names = self.sheet.iter().chain(self.types.keys());
        if self.types.len() > MAX_TYPES || names.into_iter().any(|name| name.chars().count() > MAX_NAME) {
            return Err(bad("too_long", "too many columns, or a name that is too long".to_owned()));
        }
        Ok(self)
    }

    /// Whether an earlier reading, made with `before`, already shows that these choices name something that is not there.
    pub fn fits(&self, before: &IngestOptions, found: Option<&FileProfile>) -> Result<(), BadChoice> {
        let Some(profile) = found.filter(|profile| !profile.tables.is_empty()) else { return Ok(()) };
        if let Some(sheet) = &self.sheet
            && before.sheet.is_none()
        {
            self.sheet_is_there(sheet, profile)?;
        }
        // Other choices change the names; then only the reading itself can tell.
        let same_names = (&self.encoding, self.header_row, &self.sheet)
            == (&before.encoding, before.header_row, &before.sheet);
        let known = |name: &String| {
            profile.tables.iter().any(|table| table.columns.iter().any(|column| column.name == *name))
        };
        match self.types.keys().find(|name| same_names && !known(name)) {
            None => Ok(()),
            Some(name) => {
                let name = shorten(&one_line(name), 80);
                Err(bad("unknown_column", format!("there is no column `{name}`")))
            }
        }
    }

    fn sheet_is_there(&self, sheet: &str, profile: &FileProfile) -> Result<(), BadChoice> {
        let mut names: Vec<&str> = profile.tables.iter().filter_map(|t| t.sheet.as_deref()).collect();
        names.dedup();
        let index = sheet.trim().parse::<usize>().ok();
        if names.iter().any(|name| name.trim() == sheet.trim()) || index.is_some() {
            return Ok(());
        }
        let sheet = shorten(&one_line(sheet), 80);
        let message = match names.is_empty() {
            true => format!("this file has no sheets, so there is none called `{sheet}`"),
            false => format!("there is no sheet `{sheet}`; there are: {}", names.join(", ")),
        };
        Err(bad("unknown_sheet", message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{ColumnChoice, ColumnProfile, TableProfile};

    fn options(value: serde_json::Value) -> IngestOptions {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn encodings_are_known_by_every_usual_name() {
        for (given, kept) in
            [("GBK", "gb18030"), ("Windows-1252", "cp1252"), ("euc-kr", "euc_kr"), ("UTF_16", "utf-16")]
        {
            let checked = options(serde_json::json!({"encoding": given})).checked().unwrap();
            assert_eq!(checked.encoding.as_deref(), Some(kept), "{given}");
        }
        let refused = options(serde_json::json!({"encoding": "klingon"})).checked().unwrap_err();
        assert_eq!(refused.code, "unknown_encoding");
        assert!(refused.message.contains("klingon") && refused.message.contains("big5"), "{refused}");
    }

    #[test]
    fn a_header_far_down_is_refused_and_none_is_a_choice() {
        let far = options(serde_json::json!({"header_row": 1001})).checked().unwrap_err();
        assert_eq!(far.code, "header_row_out_of_range");
        assert_eq!(options(serde_json::json!({"header_row": 0})).checked().unwrap().header_row, Some(0));
    }

    fn book() -> FileProfile {
        let table = |sheet: &str, column: &str| TableProfile {
            sheet: Some(sheet.into()),
            columns: vec![ColumnProfile { name: column.into(), ..ColumnProfile::default() }],
            ..TableProfile::default()
        };
        FileProfile {
            tables: vec![table("销售", "金额"), table("成本", "费用")], ..FileProfile::default()
        }
    }

    #[test]
    fn a_sheet_or_column_that_is_not_there_is_refused_before_anything_is_lost() {
        let before = IngestOptions::default();
        let sheet = IngestOptions { sheet: Some("利润".into()), ..IngestOptions::default() };
        let refused = sheet.fits(&before, Some(&book())).unwrap_err();
        assert_eq!(refused.code, "unknown_sheet");
        assert!(refused.message.contains("销售, 成本"), "{refused}");
        // With one sheet chosen the others were not looked at, so they may be there.
        assert!(
            sheet
                .fits(&IngestOptions { sheet: Some("销售".into()), ..before.clone() }, Some(&book()))
                .is_ok()
        );

        let typed = |name: &str| IngestOptions {
            types: [(name.to_owned(), ColumnChoice::Text)].into(),
            ..IngestOptions::default()
        };
        assert!(typed("费用").fits(&before, Some(&book())).is_ok());
        assert_eq!(typed("税").fits(&before, Some(&book())).unwrap_err().code, "unknown_column");
        let moved = IngestOptions { header_row: Some(3), ..typed("税") };
        assert!(moved.fits(&before, Some(&book())).is_ok(), "another header may have it");
        assert!(typed("税").fits(&before, None).is_ok(), "nothing is known of a file that could not be read");
    }
}
