//! Tables written in HTML, as their header and rows of cells. Tolerates what is never closed; reads no styles and no spans.

use std::sync::LazyLock;

use regex::Regex;

use super::Span;

pub struct HtmlTable {
    pub span: Span,
    pub header: Vec<Span>,
    pub rows: Vec<Vec<Span>>,
}

static TAG: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)<(/?)(table|tr|th|td|thead|tbody|tfoot|caption)\b[^<>]{0,2000}>").ok());

/// The tables of a report that have a row below their header, in their order.
pub fn tables(report: &str) -> Vec<HtmlTable> {
    let (mut found, mut open): (Vec<HtmlTable>, Option<Open>) = (Vec::new(), None);
    for tag in TAG.iter().flat_map(|t| t.captures_iter(report)) {
        let (Some(all), closes) = (tag.get(0), &tag[1] == "/") else { continue };
        let name = tag[2].to_ascii_lowercase();
        if name == "table" && !closes && open.is_none() {
            open = Some(Open { start: all.start(), rows: Vec::new(), cell: None });
            continue;
        }
        let Some(table) = &mut open else { continue };
        if let Some(from) = table.cell.take()
            && let Some(row) = table.rows.last_mut()
        {
            row.push(inner(report, from..all.start()));
        }
        match (name.as_str(), closes) {
            ("tr", false) => table.rows.push(Vec::new()),
            ("th" | "td", false) => table.cell = Some(all.end()),
            ("table", true) => {
                found.extend(open.take().and_then(|t| t.close(all.end())));
            }
            _ => {}
        }
    }
    found.extend(open.and_then(|t| t.close(report.len())));
    found
}

struct Open {
    start: usize,
    rows: Vec<Vec<Span>>,
    cell: Option<usize>,
}

impl Open {
    fn close(mut self, end: usize) -> Option<HtmlTable> {
        self.rows.retain(|row| !row.is_empty());
        if self.rows.len() < 2 {
            return None;
        }
        let header = self.rows.remove(0);
        Some(HtmlTable { span: self.start..end, header, rows: self.rows })
    }
}

/// What a cell says, without blanks and tags around it.
fn inner(report: &str, span: Span) -> Span {
    let (mut start, mut end) = (span.start, span.end);
    loop {
        let text = &report[start..end];
        let lead = text.len() - text.trim_start().len();
        let trimmed = text.trim();
        let opening = trimmed.starts_with('<').then(|| trimmed.find('>')).flatten();
        let closing = trimmed.ends_with('>').then(|| trimmed.rfind('<')).flatten();
        (start, end) = (start + lead, start + lead + trimmed.len());
        match (opening, closing) {
            (Some(at), _) => start += at + 1,
            (None, Some(at)) => end = start + at,
            (None, None) => return start..end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_and_cells_are_found_without_their_tags() {
        let report = "<table class=\"t\"><thead><tr><th>地区</th><th>额</th></tr></thead>\n<tbody><tr><td> <b>华东</b> </td><td>12</td></tr><tr><td>华南<td>15</table>";
        let found = tables(report);
        let cell = |s: &Span| &report[s.clone()];
        assert_eq!(found[0].header.iter().map(cell).collect::<Vec<_>>(), ["地区", "额"]);
        let rows: Vec<Vec<&str>> = found[0].rows.iter().map(|r| r.iter().map(cell).collect()).collect();
        assert_eq!(rows, [["华东", "12"], ["华南", "15"]]);
    }

    #[test]
    fn what_is_never_closed_ends_with_the_report() {
        for text in [
            "<table>",
            "<table><tr><td>1",
            "<td>1</td></tr>",
            "<table><tr><td><tr><td></table",
            "<table><tr><td><b",
            "<table><tr><td>></td><tr><td><<",
        ] {
            tables(text);
        }
    }
}
