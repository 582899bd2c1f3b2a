//! The Excel download of a result, written by a small Python program. Data goes in as one JSON text, and cells that a
//! spreadsheet would run as a formula are made plain.

use serde_json::json;

use crate::observe::Grid;

pub fn filename(turn: usize) -> String {
    format!("offline_result_{turn}.xlsx")
}

/// The program that writes the file.
pub fn python(turn: usize, grid: &Grid) -> String {
    let cell = |value: &Option<String>| match value {
        None => serde_json::Value::Null,
        Some(text) => match crate::observe::number(text).filter(|_| is_plain_number(text)) {
            Some(n) => json!(n),
            None => json!(plain(text)),
        },
    };
    let rows: Vec<Vec<serde_json::Value>> = grid.rows.iter().map(|r| r.iter().map(cell).collect()).collect();
    let names: Vec<String> = grid.names.iter().map(|n| plain(n)).collect();
    // JSON inside a JSON string is a valid Python string: no value can leave it.
    let data = ascii(&json!({"names": names, "rows": rows}).to_string());
    let literal = serde_json::Value::String(data).to_string();
    format!(
        "import json\nfrom openpyxl import Workbook\n\ndata = json.loads({literal})\nbook = Workbook()\nsheet = book.active\nsheet.append(data[\"names\"])\nfor row in data[\"rows\"]:\n    sheet.append(row)\nbook.save(\"{}\")\n",
        filename(turn)
    )
}

/// Text a spreadsheet must not run.
fn plain(text: &str) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control()).collect();
    if clean.starts_with(['=', '+', '-', '@', '\t']) && crate::observe::number(&clean).is_none() {
        format!("'{clean}")
    } else {
        clean
    }
}

/// Order numbers such as `007` stay text.
fn is_plain_number(text: &str) -> bool {
    let digits = text.trim_start_matches('-');
    digits.len() <= 15 && (!digits.starts_with('0') || digits == "0" || digits.starts_with("0."))
}

fn ascii(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            let mut units = [0u16; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_cells_stay_data() {
        let grid = Grid {
            names: vec!["a\"\nimport os".into(), "=cmd".into()],
            rows: vec![
                vec![Some("\"); import os #".into()), Some("=cmd|' /C calc'!A0".into())],
                vec![Some("007".into()), Some("-12.5".into())],
            ],
            cut: false,
        };
        let code = python(1, &grid);
        assert_eq!(code.matches("\nimport").count(), 0);
        assert!(code.contains("'=cmd|"));
        assert!(code.contains("-12.5"));
        assert!(code.contains("\\\"007\\\""));
    }

    #[test]
    fn text_beyond_ascii_is_escaped_for_python() {
        let grid = Grid { names: vec!["地区😀".into()], rows: vec![], cut: false };
        assert!(python(1, &grid).contains(r"\\u5730\\u533a\\ud83d\\ude00"));
    }
}
