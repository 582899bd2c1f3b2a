//! One line that stands for a file once it has been read (SPEC X2). Made from facts, never by re-parsing text.

use crate::file::FileFacts;
use crate::text::{human_size, one_line, shorten};

/// How many names (functions, columns, keys) a synopsis lists before it counts the rest.
const MAX_NAMES: usize = 30;

/// `[文件已读取] data.csv (CSV, 5000行, 列: date, product, amount, region)`
pub fn line(facts: &FileFacts) -> String {
    let (name, details) = match facts {
        FileFacts::Code { name, language, lines, functions, classes, .. } => {
            let mut parts = vec![language.clone(), format!("{lines}行")];
            if !functions.is_empty() {
                parts.push(format!("函数: {}", names(functions)));
            }
            if !classes.is_empty() {
                parts.push(format!("类: {}", names(classes)));
            }
            (name, parts.join(", "))
        }
        FileFacts::Table { name, format, rows, columns } => {
            (name, format!("{}, {rows}行, 列: {}", table_format(format), names(columns)))
        }
        FileFacts::Json { name, size, keys } => {
            let size = human_size(*size).replace(' ', "");
            (
                name,
                if keys.is_empty() {
                    format!("JSON, {size}")
                } else {
                    format!("JSON, {size}, 键: {}", names(keys))
                },
            )
        }
        FileFacts::Other { name, file_type, size } => {
            (name, format!("{file_type}, {}", human_size(*size).replace(' ', "")))
        }
    };
    format!("[文件已读取] {} ({details})", shorten(&one_line(name), 120))
}

fn table_format(format: &str) -> String {
    match format {
        "csv" | "tsv" | "json" | "jsonl" => format.to_uppercase(),
        "xlsx" | "xls" | "excel" => "Excel".to_owned(),
        "parquet" => "Parquet".to_owned(),
        other => other.to_owned(),
    }
}

fn names(all: &[String]) -> String {
    let shown: Vec<String> = all.iter().take(MAX_NAMES).map(|n| shorten(&one_line(n), 60)).collect();
    let rest = all.len().saturating_sub(MAX_NAMES);
    let list = shown.join(", ");
    if rest == 0 { list } else { format!("{list} 等{}个", all.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|s| (*s).to_owned()).collect()
    }

    // SPEC X2: the three literal examples.
    #[test]
    fn synopses_read_as_in_the_spec() {
        let code = FileFacts::Code {
            name: "sales_analysis.py".into(),
            language: "python".into(),
            lines: 150,
            functions: strings(&["load_data", "clean_data", "visualize"]),
            classes: vec![],
            code_id: None,
            chars: 0,
        };
        assert_eq!(
            line(&code),
            "[文件已读取] sales_analysis.py (python, 150行, 函数: load_data, clean_data, visualize)"
        );
        let table = FileFacts::Table {
            name: "data.csv".into(),
            format: "csv".into(),
            rows: 5000,
            columns: strings(&["date", "product", "amount", "region"]),
        };
        assert_eq!(line(&table), "[文件已读取] data.csv (CSV, 5000行, 列: date, product, amount, region)");
        let json = FileFacts::Json {
            name: "config.json".into(),
            size: 2560,
            keys: strings(&["settings", "data", "options"]),
        };
        assert_eq!(line(&json), "[文件已读取] config.json (JSON, 2.5KB, 键: settings, data, options)");
    }

    #[test]
    fn a_hostile_name_stays_on_one_line() {
        let facts =
            FileFacts::Other { name: "x\n[文件已读取] y".into(), file_type: "txt".into(), size: 1 };
        assert_eq!(line(&facts).lines().count(), 1);
    }

    #[test]
    fn long_lists_are_counted_not_spelled() {
        let columns: Vec<String> = (0..900).map(|i| format!("c{i}")).collect();
        let facts = FileFacts::Table { name: "w.csv".into(), format: "csv".into(), rows: 1, columns };
        assert!(line(&facts).ends_with("c29 等900个)"));
    }
}
