//! All tables of a connection in a bounded text, for the first request of a conversation: names, row estimates, comments and
//! the keys between them, and columns while they fit. Pure; what does not fit is said, with how to find it.

use std::fmt::Write;

use ba_protocol::text::{one_line, shorten};

use super::schema::TableInfo;

const COMMENT: usize = 40;
const COLUMNS: usize = 12;

/// How much is said of each table, from most to least.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Columns,
    Keys,
    Comment,
    Name,
}

/// The list as `fits` it: from all columns down to the names of the largest tables.
pub(super) fn list(connection: &str, tables: &[TableInfo], fits: &dyn Fn(&str) -> bool) -> String {
    let head = format!(
        "Connection `{connection}`: {} tables (name ~rows; PK, → for foreign keys). Find more with SHOW TABLES LIKE '%word%' \
         (names, comments, columns, values) or DESCRIBE <table>.\n",
        tables.len()
    );
    for detail in [Detail::Columns, Detail::Keys, Detail::Comment] {
        let text: String = tables.iter().map(|t| line(t, detail)).collect();
        let text = format!("{head}{}", text.trim_end());
        if fits(&text) {
            return text;
        }
    }
    let sorted = by_size(tables);
    let of = |most: usize| {
        let names: Vec<String> =
            sorted[..most].iter().map(|t| line(t, Detail::Name).trim_end().to_owned()).collect();
        let left = match sorted.len() - most {
            0 => String::new(),
            left => format!("\n… and {left} more tables, the smaller ones; search for them."),
        };
        format!("{head}{}{left}", names.join(", "))
    };
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(&of(middle)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    of(low)
}

/// Those with the most rows first, then by name.
fn by_size(tables: &[TableInfo]) -> Vec<&TableInfo> {
    let mut sorted: Vec<&TableInfo> = tables.iter().collect();
    sorted.sort_by(|a, b| b.rows.unwrap_or(0).cmp(&a.rows.unwrap_or(0)).then_with(|| a.name.cmp(&b.name)));
    sorted
}

fn line(table: &TableInfo, detail: Detail) -> String {
    let mut out = one_line(&table.name);
    if let Some(rows) = table.rows {
        let _ = write!(out, " ~{}", rounded(rows));
    }
    if detail == Detail::Name {
        out.push('\n');
        return out;
    }
    if !table.comment.is_empty() {
        let _ = write!(out, " — {}", shorten(&one_line(&table.comment), COMMENT));
    }
    let wanted = table.columns.iter().filter(|c| detail == Detail::Columns || !c.key.is_empty());
    if detail != Detail::Comment {
        let columns: Vec<String> = wanted
            .take(COLUMNS)
            .map(|c| {
                if c.key.is_empty() {
                    one_line(&c.name)
                } else {
                    format!("{} {}", one_line(&c.name), one_line(&c.key))
                }
            })
            .collect();
        let more = if detail == Detail::Columns && table.columns.len() > COLUMNS { ", …" } else { "" };
        if !columns.is_empty() {
            let _ = write!(out, ": {}{more}", columns.join(", "));
        }
    }
    out.push('\n');
    out
}

/// `950`, `12k`, `3.4M`: estimates are no more exact than that.
fn rounded(rows: u64) -> String {
    match rows {
        0..=9_999 => rows.to_string(),
        10_000..=999_999 => format!("{}k", rows / 1_000),
        _ => format!("{}.{}M", rows / 1_000_000, rows % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::ColumnInfo;
    use super::*;

    fn many(n: usize) -> Vec<TableInfo> {
        let column = |name: &str, key: &str| ColumnInfo {
            name: name.into(),
            key: key.into(),
            ..ColumnInfo::default()
        };
        (0..n)
            .map(|i| TableInfo {
                name: format!("erp.t_order_detail_{i:03}"),
                kind: "table".into(),
                comment: format!("订单明细表第 {i} 分区，按月归档"),
                rows: Some(1_000 * i as u64),
                columns: vec![
                    column("order_id", "PK → erp.t_order"),
                    column("product_id", "→ erp.t_product"),
                    column("amount", ""),
                ],
            })
            .collect()
    }

    #[test]
    fn the_list_is_bounded_and_says_what_is_left_out() {
        let fits = |text: &str| text.chars().count() <= 6_000;
        for n in [1, 12, 120, 500, 5_000] {
            let text = list("erp", &many(n), &fits);
            assert!(fits(&text), "{n}: {}", text.chars().count());
            assert!(text.starts_with(&format!("Connection `erp`: {n} tables")), "{text}");
        }
        let few = list("erp", &many(3), &fits);
        assert!(few.contains("erp.t_order_detail_002 ~2000 — 订单明细表第 2 分区，按月归档: order_id PK → erp.t_order, product_id → erp.t_product, amount"), "{few}");
        let all = list("erp", &many(120), &fits);
        assert_eq!(all.lines().count(), 121, "every table of 120 is named: {all}");
        let most = list("erp", &many(500), &fits);
        assert!(
            most.contains("t_order_detail_499 ~499k") && most.contains("more tables, the smaller ones"),
            "{most}"
        );
    }
}
