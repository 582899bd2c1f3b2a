//! The dossier's own words, in the language of the question.

use ba_protocol::Language;
use ba_protocol::file::TestedJoin;

/// What is said, once for each language.
#[derive(Debug, Clone, Copy, Default)]
pub struct Words(pub Language);

macro_rules! said {
    ($($name:ident: $zh:literal, $en:literal;)*) => {
        $(pub(super) fn $name(self) -> &'static str {
            match self.0 {
                Language::Zh => $zh,
                Language::En => $en,
            }
        })*
    };
}

macro_rules! filled {
    ($($name:ident($($field:ident),*): $zh:literal, $en:literal;)*) => {
        $(pub(super) fn $name(self, $($field: impl std::fmt::Display),*) -> String {
            match self.0 {
                Language::Zh => format!($zh),
                Language::En => format!($en),
            }
        })*
    };
}

impl Words {
    said! {
        heading: "**数据档案：**\n", "**Data dossier:**\n";
        no_key: "，未发现唯一键", ", no unique key found";
        joins: "关联键（已实测）：\n", "Join keys (tested):\n";
        kept: "保留的结果表（SQL 与 load 均可用）：", "Kept results (for SQL and load): ";
        files: "工具生成的文件：", "Files that tools made: ";
        variables: "Python 变量（可直接使用）：", "Python variables (ready to use): ";
        columns: "列：", "columns: ";
        between: "、", ", ";
        apart: "；", "; ";
        all_distinct: "各不相同", "all distinct";
    }

    filled! {
        skipped(n): "（另有 {n} 张较早的表未列出，SHOW TABLES 可查）\n", "({n} earlier tables are not listed; SHOW TABLES has them)\n";
        table(sql, file_id, filename, python, rows): "表 \"{sql}\"（{file_id} {filename}，Python: load(\"{python}\")）：{rows} 行", "Table \"{sql}\" ({file_id} {filename}, Python: load(\"{python}\")): {rows} rows";
        one_row_per(key): "，每行一个 {key}", ", one row per {key}";
        also_unique(key): "（{key} 也唯一）", " ({key} is unique too)";
        note(text): "  注意：{text}\n", "  note: {text}\n";
        with_totals(sql): "  含合计行的版本：\"{sql}_with_totals\"\n", "  with its total rows: \"{sql}_with_totals\"\n";
        join(left, right, covered, other, shape): "- {left} = {right}：{covered} / {other} 的行能匹配，{shape}\n", "- {left} = {right}: {covered} / {other} of the rows match, {shape}\n";
        spoken_of(table, shown): "问题涉及 {table} 的列：{shown}\n", "The question speaks of columns of {table}: {shown}\n";
        statement(sql): "SQL 写法（按问题修改）：{sql}\n", "SQL looks like this (adapt it): {sql}\n";
        size(text): "（{text}）", " ({text})";
        rest(n): " …另有 {n} 列", " … and {n} more columns";
        blank(share): "，空 {share}", ", blank {share}";
        kinds(n): "{n} 种", "{n} values";
        kinds_such_as(n, shown): "{n} 种：{shown}", "{n} values: {shown}";
        such_as(example): "，如 {example}", ", such as {example}";
        mean(figure): " 均值 {figure}", " mean {figure}";
    }

    /// What a join does to the number of rows.
    pub(super) fn shape(self, join: &TestedJoin) -> String {
        let zh = self.0 == Language::Zh;
        match (join.fan_out, join.other_fan_out) {
            (0 | 1, 0 | 1) if zh => "一对一".to_owned(),
            (0 | 1, 0 | 1) => "one to one".to_owned(),
            (0 | 1, n) if zh => format!("多对一（右表每行最多对应 {n} 行）"),
            (0 | 1, n) => format!("many to one (up to {n} rows for one on the right)"),
            (n, 0 | 1) if zh => format!("一对多（左表每行最多对应 {n} 行）"),
            (n, 0 | 1) => format!("one to many (up to {n} rows for one on the left)"),
            (n, m) if zh => format!("多对多（{n} × {m}）：直接关联会重复计数，先聚合"),
            (n, m) => {
                format!("many to many ({n} × {m}): joined directly it counts rows twice, aggregate first")
            }
        }
    }
}
