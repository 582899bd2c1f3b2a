//! The rows that proofs name, so that a reader sees a figure among its labels. Copies and cuts; binds nothing.

use std::collections::{HashMap, HashSet};

use ba_protocol::audit::{ProofRow, RowCell};
use ba_protocol::text::shorten;
use serde_json::Value;

use crate::evidence::{Body, Evidence, Source, number};
use crate::verdict::{FigureProof, Proof};

/// Rows kept beside one report.
const MAX_ROWS: usize = 400;
/// Cells of a row, the figure's own among them.
const MAX_CELLS: usize = 8;
const MAX_TEXT: usize = 60;
const MAX_LINE: usize = 240;

/// Each row that a proof names, once.
pub fn of(figures: &[FigureProof], evidence: &Evidence) -> Vec<ProofRow> {
    let mut by_id: HashMap<&str, Vec<&Source>> = HashMap::new();
    for source in &evidence.sources {
        by_id.entry(&source.id).or_default().push(source);
    }
    let mut found: Vec<ProofRow> = Vec::new();
    let mut seen: HashSet<(*const Source, usize)> = HashSet::new();
    for (id, row, column, value) in figures.iter().filter_map(|f| f.proof.as_ref()).flat_map(places) {
        if found.len() >= MAX_ROWS {
            break;
        }
        let tables = by_id.get(id).into_iter().flatten();
        let Some((source, cells)) = tables.filter_map(|s| Some((*s, cells(s, row, column, value)?))).next()
        else {
            continue;
        };
        if seen.insert((std::ptr::from_ref(source), row)) {
            found.push(ProofRow { tool_call_id: id.to_owned(), row, cells });
        }
    }
    lines(figures, &by_id, &mut found);
    found
}

/// The printed lines that proofs name: each a row of one cell without a name.
fn lines(figures: &[FigureProof], by_id: &HashMap<&str, Vec<&Source>>, found: &mut Vec<ProofRow>) {
    let mut seen: HashSet<(&str, usize)> = HashSet::new();
    for figure in figures {
        let Some(Proof::Line { tool_call_id: id, line }) = &figure.proof else { continue };
        let sources = by_id.get(id.as_str()).into_iter().flatten();
        let Some(text) = sources.filter_map(|s| printed(s, *line, &figure.text)).next() else { continue };
        if found.len() < MAX_ROWS && seen.insert((id, *line)) {
            let cells = vec![RowCell { column: String::new(), value: shorten(text.trim(), MAX_LINE) }];
            found.push(ProofRow { tool_call_id: id.clone(), row: *line, cells });
        }
    }
}

/// That line of a text, where the figure's digits (but the last, which rounding may change) stand in it.
fn printed<'s>(source: &'s Source, line: usize, figure: &str) -> Option<&'s str> {
    let Body::Text { lines } = &source.body else { return None };
    let text = lines.get(line)?;
    let digits = |s: &str| s.chars().filter(char::is_ascii_digit).collect::<String>();
    let wanted = digits(figure).trim_start_matches('0').to_owned();
    let sure = &wanted[..wanted.len().saturating_sub(1).max(1).min(wanted.len())];
    digits(text).contains(sure).then_some(text.as_str())
}

type Place<'p> = (&'p str, usize, &'p str, Option<f64>);

fn places(proof: &Proof) -> Vec<Place<'_>> {
    match proof {
        Proof::Cell { tool_call_id, row, column, value } => vec![(tool_call_id, *row, column, *value)],
        Proof::Formula { operands, .. } => operands
            .iter()
            .filter_map(|o| Some((o.tool_call_id.as_str(), o.row?, o.column.as_str(), o.value)))
            .collect(),
        Proof::Line { .. } => Vec::new(),
    }
}

/// The row, where the table has that value in that column of it.
fn cells(source: &Source, row: usize, column: &str, value: Option<f64>) -> Option<Vec<RowCell>> {
    let Body::Table { columns, rows, .. } = &source.body else { return None };
    let at = columns.iter().position(|c| c == column)?;
    let row = rows.get(row)?;
    let own = number(row.get(at)?);
    if value.is_some() && own.is_some() && own != value {
        return None;
    }
    let wide = columns.len() > MAX_CELLS && at >= MAX_CELLS;
    let chosen = (0..columns.len().min(MAX_CELLS - usize::from(wide))).chain(wide.then_some(at));
    let cell = |c: usize| RowCell {
        column: shorten(&columns[c], MAX_TEXT),
        value: match row.get(c) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => shorten(text, MAX_TEXT),
            Some(other) => shorten(&other.to_string(), MAX_TEXT),
        },
    };
    Some(chosen.map(cell).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Options, audit};

    #[test]
    fn the_row_of_a_figure_is_shown_with_its_labels() {
        let mut evidence = Evidence::new();
        let row = |region: &str, sum: i64| vec![json!(region), json!(sum)];
        // Two tables of one call: the value tells which.
        evidence.table(
            "call_1",
            vec!["渠道".into(), "销售额".into()],
            vec![row("线上", 11_111), row("线下", 22_222)],
        );
        evidence.table(
            "call_1",
            vec!["地区".into(), "销售额".into()],
            vec![row("华东", 150_600), row("华南", 87_300)],
        );
        let found =
            audit("华南销售额 87,300 元，约 8.73 万元，华东占 63.3%。", &evidence, Options::default());
        let rows = serde_json::to_value(&found.rows).unwrap();
        assert_eq!(
            rows[0],
            json!({"tool_call_id": "call_1", "row": 1, "cells": [
                {"column": "地区", "value": "华南"}, {"column": "销售额", "value": "87300"}]})
        );
        assert_eq!(found.rows.iter().filter(|r| r.row == 1).count(), 1, "each row once: {rows}");
    }

    #[test]
    fn a_printed_line_is_shown_as_it_stands() {
        let mut evidence = Evidence::new();
        evidence.text("call_1", "rows: 12\n平均客单价: 87312.4");
        evidence.text("call_1", "Python finished\nlast line");
        let found = audit("平均客单价 87,312 元。", &evidence, Options::default());
        let rows = serde_json::to_value(&found.rows).unwrap();
        assert_eq!(
            rows,
            json!([{"tool_call_id": "call_1", "row": 1, "cells": [{"column": "", "value": "平均客单价: 87312.4"}]}])
        );
    }

    #[test]
    fn a_wide_row_and_a_long_text_are_cut() {
        let mut evidence = Evidence::new();
        let mut columns: Vec<String> = (0..30).map(|i| format!("c{i}")).collect();
        columns.push("销售额".into());
        let mut row = vec![json!("字".repeat(500)); 30];
        row.push(json!(87_300));
        evidence.table("call_1", columns, vec![row]);
        let found = audit("销售额 87,300 元。", &evidence, Options::default());
        assert_eq!(found.rows[0].cells.len(), MAX_CELLS);
        assert_eq!(found.rows[0].cells[MAX_CELLS - 1].column, "销售额");
        assert!(found.rows[0].cells[0].value.chars().count() < 70);
    }
}
