//! Tables as GFM. A table that only lays out the page is left to the block writer.

use dom_query::NodeRef;

use super::inline::{self, Links};

const MAX_COLUMNS: usize = 60;
const MAX_CELLS: usize = 20_000;
/// A cell longer than this holds an article and no datum.
const LONG_CELL: usize = 600;

/// Rows of cells, spans resolved: a cell over several rows is repeated, one over several columns stands first.
pub(super) fn rows(table: &NodeRef<'_>, links: &mut Links) -> Vec<Vec<String>> {
    let mut grid: Vec<Vec<String>> = Vec::new();
    let mut pending: Vec<(usize, String)> = Vec::new();
    let mut cells = 0;
    for row in own_rows(table) {
        let mut line: Vec<String> = Vec::new();
        for cell in row.children().iter().filter(|c| is(c, &["td", "th"])) {
            fill_spans(&mut line, &mut pending);
            let text = cell_text(cell, links);
            let across = span(cell, "colspan", MAX_COLUMNS);
            let down = span(cell, "rowspan", 1_000);
            for i in 0..across {
                let text = if i == 0 { text.clone() } else { String::new() };
                if pending.len() <= line.len() {
                    pending.resize(line.len() + 1, (0, String::new()));
                }
                if down > 1 {
                    pending[line.len()] = (down - 1, text.clone());
                }
                line.push(text);
                cells += 1;
            }
            if line.len() >= MAX_COLUMNS || cells >= MAX_CELLS {
                break;
            }
        }
        fill_spans(&mut line, &mut pending);
        if line.iter().any(|c| !c.is_empty()) {
            grid.push(line);
        }
        if cells >= MAX_CELLS {
            break;
        }
    }
    grid
}

/// Cells that reach into this row from above.
fn fill_spans(line: &mut Vec<String>, pending: &mut [(usize, String)]) {
    while let Some((left, text)) = pending.get_mut(line.len()).filter(|(left, _)| *left > 0) {
        *left -= 1;
        line.push(text.clone());
    }
}

/// Whether the table holds data: several short cells in a row, no other table inside, no article in a cell.
pub(super) fn is_data(table: &NodeRef<'_>) -> bool {
    let inner = |n: &NodeRef<'_>| n.id != table.id && n.has_name("table");
    if table.descendants_it().any(|n| inner(&n)) {
        return false;
    }
    let rows = own_rows(table);
    let wide = rows.iter().filter(|r| cells_of(r) >= 2).count();
    if wide == 0 || rows.len() < 2 || wide * 2 < rows.len() {
        return false;
    }
    let blocks = ["h1", "h2", "h3", "ul", "ol", "pre", "form", "blockquote", "article"];
    let heavy = table.descendants_it().filter(|n| is(n, &blocks)).count();
    let long = |n: &NodeRef<'_>| is(n, &["td", "th"]) && n.normalized_char_count() > LONG_CELL;
    heavy <= rows.len() && !table.descendants_it().any(|n| long(&n))
}

/// GFM needs a header line: the first row is it.
pub(super) fn write(rows: &[Vec<String>], out: &mut String) {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    for (i, row) in rows.iter().enumerate() {
        out.push('|');
        for column in 0..width {
            let cell = row.get(column).map_or("", String::as_str);
            out.push(' ');
            out.push_str(cell);
            out.push_str(if cell.is_empty() { "|" } else { " |" });
        }
        out.push('\n');
        if i == 0 {
            out.push('|');
            out.push_str(&" --- |".repeat(width));
            out.push('\n');
        }
    }
}

fn own_rows<'a>(table: &NodeRef<'a>) -> Vec<NodeRef<'a>> {
    let mut rows = Vec::new();
    for child in table.children() {
        if child.has_name("tr") {
            rows.push(child);
        } else if is(&child, &["tbody", "thead", "tfoot"]) {
            rows.extend(child.children().into_iter().filter(|r| r.has_name("tr")));
        }
    }
    rows
}

fn cells_of(row: &NodeRef<'_>) -> usize {
    row.children().iter().filter(|c| is(c, &["td", "th"])).count()
}

fn cell_text(cell: &NodeRef<'_>, links: &mut Links) -> String {
    let mut text = String::new();
    inline::children(cell, links, &mut text);
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

fn span(cell: &NodeRef<'_>, name: &str, most: usize) -> usize {
    cell.attr(name).and_then(|v| v.trim().parse::<usize>().ok()).unwrap_or(1).clamp(1, most)
}

fn is(node: &NodeRef<'_>, names: &[&str]) -> bool {
    node.node_name().is_some_and(|n| names.contains(&&*n))
}
