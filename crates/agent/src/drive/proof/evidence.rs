//! What a tool's output is worth as evidence: its whole tables and its lines, before anything is cut for the model.
//! Caps it by bytes; judges no figure.

use ba_audit::{Body as Proof, Evidence, Source, SourceKind};
use serde_json::Value;

use crate::tool::{Body, ToolOutput};

/// Bytes of evidence kept with one call.
pub const CALL_BYTES: usize = 2 * 1024 * 1024;

/// The evidence of one call, at most about `max_bytes` of it; `None` when there is none.
pub fn of(call_id: &str, output: &ToolOutput, max_bytes: usize) -> Option<Evidence> {
    if max_bytes == 0 {
        return None;
    }
    let mut bodies = Vec::new();
    take(&output.body, &mut bodies);
    output.evidence.iter().for_each(|more| take(more, &mut bodies));
    bodies.push(text(&output.summary));
    let mut evidence = Evidence::new();
    let mut left = max_bytes;
    for mut body in bodies {
        evidence.cut |= fit(&mut body, &mut left);
        evidence.push(Source { id: call_id.to_owned(), kind: SourceKind::Tool, body });
    }
    Some(evidence)
}

fn take(body: &Body, into: &mut Vec<Proof>) {
    match body {
        Body::Empty => {}
        Body::Table { columns, rows, total_rows } => into.push(Proof::Table {
            columns: columns.iter().map(|c| c.name.clone()).collect(),
            rows: rows.clone(),
            total_rows: total_rows.unwrap_or(rows.len() as u64),
        }),
        Body::Text(lines) | Body::Code { text: lines, .. } => into.push(text(lines)),
        Body::List(items) => into.push(text(&items.join("\n"))),
        Body::Parts(parts) => parts.iter().for_each(|(_, part)| take(part, into)),
    }
}

fn text(text: &str) -> Proof {
    Proof::Text { lines: text.lines().map(str::to_owned).collect() }
}

/// Drops the rows or lines that no longer fit. True when some were dropped.
fn fit(body: &mut Proof, left: &mut usize) -> bool {
    let mut fits = |size: usize| match left.checked_sub(size) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    };
    match body {
        Proof::Table { rows, .. } => {
            let kept = rows.iter().take_while(|row| fits(row.iter().map(size).sum::<usize>() + 2)).count();
            let cut = kept < rows.len();
            rows.truncate(kept);
            cut
        }
        Proof::Text { lines } => {
            let kept = lines.iter().take_while(|line| fits(line.len() + 3)).count();
            let cut = kept < lines.len();
            lines.truncate(kept);
            cut
        }
    }
}

/// About the bytes a cell takes as JSON.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 6,
        Value::Number(_) => 20,
        Value::String(s) => s.len() + 3,
        other => other.to_string().len() + 1,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::Column;

    #[test]
    fn evidence_is_the_whole_table_and_every_line() {
        let rows: Vec<Vec<Value>> = (0..3_000).map(|i| vec![json!(i)]).collect();
        let columns = vec![Column::new("n", "BIGINT")];
        let table = Body::Table { columns, rows, total_rows: Some(9_000) };
        let parts =
            Body::Parts(vec![(String::new(), Body::Text("mean: 4.5\nok".into())), ("v".into(), table)]);
        let found = of("call_1", &ToolOutput::new("3000 rows", parts), CALL_BYTES).unwrap();
        assert_eq!(found.sources.len(), 3);
        assert!(found.sources.iter().all(|s| s.id == "call_1") && !found.cut);
        let Proof::Table { rows, total_rows, .. } = &found.sources[1].body else { panic!("no table") };
        assert_eq!((rows.len(), *total_rows), (3_000, 9_000));
    }

    #[test]
    fn what_does_not_fit_is_cut_and_said() {
        let rows: Vec<Vec<Value>> = (0..1_000).map(|_| vec![json!("x".repeat(97))]).collect();
        let table = Body::Table { columns: vec![Column::new("n", "")], rows, total_rows: None };
        let found = of("c", &ToolOutput::new("s", table), 10_000).unwrap();
        let Proof::Table { rows, total_rows, .. } = &found.sources[0].body else { panic!("no table") };
        assert_eq!((rows.len(), *total_rows, found.cut), (98, 1_000, true));
        assert!(serde_json::to_string(&found).unwrap().len() < 11_000);
        assert_eq!(of("c", &ToolOutput::text("s", "t"), 0), None);
    }
}
