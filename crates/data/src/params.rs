//! Named parameters, bound and never pasted: the text keeps the engine's own placeholder, the values travel beside it.
//! A list inside `IN (…)` becomes one placeholder per item, or one array where the engine compares with arrays.

use serde_json::{Map, Value};

use crate::DataError;
use crate::guard::{Checked, Dialect, InList, Placeholder};

/// Items that a list may have.
const MAX_ITEMS: usize = 1_000;

/// The statement in an engine's own placeholder style, and the values in the order in which they are bound.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bound {
    pub sql: String,
    pub values: Vec<(String, Value)>,
}

/// How an engine writes its placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `$1`: one per name.
    Numbered,
    /// `?`: one per place.
    Question,
    /// `@P1`: one per name (SQL Server).
    At,
    /// `$name`
    Dollar,
    /// `{name:Type}` (ClickHouse)
    Braces,
    /// The value itself, as a literal of the dialect.
    Written(Dialect),
}

/// The statement for a server that binds no values: each stands in its place as a literal, written as the guard writes those
/// of the query itself.
pub(crate) fn written(
    checked: &Checked,
    params: &Map<String, Value>,
    dialect: Dialect,
) -> Result<String, DataError> {
    Ok(bind(checked, params, Style::Written(dialect))?.sql)
}

pub(crate) fn bind(checked: &Checked, params: &Map<String, Value>, style: Style) -> Result<Bound, DataError> {
    let mut sql = String::with_capacity(checked.sql().len());
    let mut values: Vec<(String, Value)> = Vec::new();
    let mut used: Vec<&str> = Vec::new();
    let mut done = 0;
    for place in checked.placeholders() {
        let Some(value) = params.get(&place.name) else {
            // `$1`, `?` and `:name` without a value are mistakes; a colon elsewhere (slices, JSON paths) is not.
            let text = &checked.sql()[place.range.clone()];
            if text.starts_with(':') {
                continue;
            }
            return Err(DataError::Params(format!(
                "`{text}` has no value; write parameters by name (`:name`) and give their values in params"
            )));
        };
        used.push(&place.name);
        let (range, text) = match value {
            Value::Object(_) => {
                return Err(DataError::Params(format!("`{}` must be a plain value", place.name)));
            }
            Value::Array(items) => list(place, items, style, params, &mut values)?,
            _ => (place.range.clone(), placeholder(&place.name, value, style, &mut values)),
        };
        sql.push_str(&checked.sql()[done..range.start]);
        sql.push_str(&text);
        done = range.end;
    }
    sql.push_str(&checked.sql()[done..]);
    if let Some(unused) = params.keys().find(|k| !used.contains(&k.as_str())) {
        return Err(DataError::Params(format!("`{unused}` is not in the query; write it as `:{unused}`")));
    }
    Ok(Bound { sql, values })
}

/// What stands for a list, and the bytes of the text that it takes the place of.
fn list(
    place: &Placeholder,
    items: &[Value],
    style: Style,
    params: &Map<String, Value>,
    values: &mut Vec<(String, Value)>,
) -> Result<(std::ops::Range<usize>, String), DataError> {
    let name = &place.name;
    check_items(name, items)?;
    let whole =
        |values: &mut Vec<(String, Value)>| placeholder(name, &Value::Array(items.to_vec()), style, values);
    let Some(list) = &place.list else {
        if matches!(style, Style::Question | Style::At | Style::Written(_)) {
            let message = format!("`{name}` is a list, which this database knows only as `IN (:{name})`");
            return Err(DataError::Params(message));
        }
        return Ok((place.range.clone(), whole(values)));
    };
    match (style, list) {
        // One array, whose type the server tells: an empty one needs no other words.
        (Style::Numbered, InList { alone: true, negated, range }) => {
            let operator = if *negated { "<> ALL" } else { "= ANY" };
            Ok((range.clone(), format!("{operator}({})", whole(values))))
        }
        (_, InList { alone: true, negated, range }) if items.is_empty() => {
            Ok((range.clone(), empty(*negated, style).to_owned()))
        }
        (_, InList { alone: false, .. }) if items.is_empty() => {
            Err(DataError::Params(format!("`{name}` is empty; put all items of the IN (…) into one list")))
        }
        _ => {
            let written: Vec<String> = items
                .iter()
                .enumerate()
                .map(|(i, item)| placeholder(&item_name(name, i, params), item, style, values))
                .collect();
            Ok((place.range.clone(), written.join(", ")))
        }
    }
}

fn check_items(name: &str, items: &[Value]) -> Result<(), DataError> {
    let kind = |v: &Value| match v {
        Value::String(_) => "text",
        Value::Number(_) => "number",
        Value::Bool(_) => "true or false",
        Value::Null => "null",
        Value::Array(_) | Value::Object(_) => "list",
    };
    let wrong = |message: String| Err(DataError::Params(format!("`{name}` {message}")));
    if items.len() > MAX_ITEMS {
        return wrong(format!("has {} items; a list may have {MAX_ITEMS}", items.len()));
    }
    let Some(first) = items.first().map(kind) else { return Ok(()) };
    if items.iter().any(|item| kind(item) == "list") {
        return wrong("holds lists; give a plain list of numbers or texts".into());
    }
    if items.iter().any(Value::is_null) {
        return wrong("holds null, which IN never finds; leave it out and write OR … IS NULL".into());
    }
    match items.iter().map(kind).find(|other| *other != first) {
        Some(other) => wrong(format!("mixes {first} and {other}; give items of one kind")),
        None => Ok(()),
    }
}

/// `IN (…)` of nothing: never true, and its opposite always.
fn empty(negated: bool, style: Style) -> &'static str {
    match (style, negated) {
        (Style::Question, false) => "IN (SELECT NULL FROM (SELECT 1) AS q WHERE 1 = 0)",
        (Style::Question, true) => "NOT IN (SELECT NULL FROM (SELECT 1) AS q WHERE 1 = 0)",
        (_, false) => "IN (SELECT NULL WHERE 1 = 0)",
        (_, true) => "NOT IN (SELECT NULL WHERE 1 = 0)",
    }
}

/// A name for one item that no other parameter has.
fn item_name(name: &str, i: usize, params: &Map<String, Value>) -> String {
    let mut item = format!("{name}_{}", i + 1);
    while params.contains_key(&item) {
        item.push('_');
    }
    item
}

fn placeholder(name: &str, value: &Value, style: Style, values: &mut Vec<(String, Value)>) -> String {
    let known = values.iter().position(|(n, _)| n == name);
    match style {
        Style::Question => {
            values.push((name.to_owned(), value.clone()));
            "?".to_owned()
        }
        Style::Numbered | Style::At => {
            let at = known.unwrap_or_else(|| {
                values.push((name.to_owned(), value.clone()));
                values.len() - 1
            });
            let sign = if style == Style::At { "@P" } else { "$" };
            format!("{sign}{}", at + 1)
        }
        Style::Dollar => {
            if known.is_none() {
                values.push((name.to_owned(), value.clone()));
            }
            format!("${name}")
        }
        Style::Braces => {
            if known.is_none() {
                values.push((name.to_owned(), value.clone()));
            }
            format!("{{{name}:{}}}", clickhouse_type(value))
        }
        Style::Written(dialect) => literal(value, dialect),
    }
}

/// A negative number in parentheses: behind a minus it would open a comment.
fn literal(value: &Value, dialect: Dialect) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(true) => "TRUE".to_owned(),
        Value::Bool(false) => "FALSE".to_owned(),
        Value::Number(number) => format!("({number})"),
        Value::String(text) => dialect.quoted_text(text),
        other => dialect.quoted_text(&other.to_string()),
    }
}

fn clickhouse_type(value: &Value) -> String {
    match value {
        Value::Bool(_) => "Bool".to_owned(),
        Value::Number(n) if n.is_f64() => "Float64".to_owned(),
        Value::Number(_) => "Int64".to_owned(),
        Value::Null => "Nullable(String)".to_owned(),
        Value::Array(items) => {
            let float = items.iter().find(|i| i.is_f64());
            format!("Array({})", float.or(items.first()).map_or("Nothing".to_owned(), clickhouse_type))
        }
        _ => "String".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::check;
    use serde_json::json;

    fn bound(sql: &str, params: Value, style: Style) -> Result<Bound, DataError> {
        let checked = check(sql, Dialect::Postgres).unwrap();
        bind(&checked, params.as_object().unwrap(), style)
    }

    #[test]
    fn each_engine_gets_its_own_placeholders() {
        let sql = "SELECT :a, '销 :a', $b FROM t WHERE x = :a";
        let params = json!({"a": 1, "b": "x'; DROP TABLE t"});
        let numbered = bound(sql, params.clone(), Style::Numbered).unwrap();
        assert_eq!(numbered.sql, "SELECT $1, '销 :a', $2 FROM t WHERE x = $1");
        assert_eq!(numbered.values.len(), 2);
        let question = bound(sql, params.clone(), Style::Question).unwrap();
        assert_eq!(question.sql, "SELECT ?, '销 :a', ? FROM t WHERE x = ?");
        assert_eq!(question.values.len(), 3);
        let braces = bound(sql, params, Style::Braces).unwrap();
        assert_eq!(braces.sql, "SELECT {a:Int64}, '销 :a', {b:String} FROM t WHERE x = {a:Int64}");
    }

    #[test]
    fn a_written_value_stays_one_literal() {
        let hostile = json!({"a": "x' OR 1=1 -- \\", "n": -1});
        for (dialect, sent) in [
            (Dialect::Spark, "SELECT 'x\\' OR 1=1 -- \\\\', 1 - (-1)"),
            (Dialect::Trino, "SELECT 'x'' OR 1=1 -- \\', 1 - (-1)"),
            (Dialect::MySql, "SELECT 'x'' OR 1=1 -- \\\\', 1 - (-1)"),
        ] {
            let checked = check("SELECT :a, 1 - :n", dialect).unwrap();
            let got = written(&checked, hostile.as_object().unwrap(), dialect).unwrap();
            assert_eq!(got, sent, "{dialect:?}");
            assert_eq!(check(&got, dialect).unwrap().sql(), sent, "{dialect:?}");
        }
        let checked =
            check("SELECT 1 FROM t WHERE a IN (:ids) AND NOT b IN (:none)", Dialect::Spark).unwrap();
        let got =
            written(&checked, json!({"ids": ["甲", "乙"], "none": []}).as_object().unwrap(), Dialect::Spark);
        assert_eq!(
            got.unwrap(),
            "SELECT 1 FROM t WHERE a IN ('甲', '乙') AND NOT b IN (SELECT NULL WHERE 1 = 0)"
        );
    }

    #[test]
    fn missing_and_unused_parameters_are_named() {
        assert!(bound("SELECT $x", json!({}), Style::Numbered).unwrap_err().to_string().contains("$x"));
        assert!(bound("SELECT 1", json!({"y": 1}), Style::Numbered).unwrap_err().to_string().contains(":y"));
    }

    #[test]
    fn a_list_inside_in_is_expanded() {
        let sql = "SELECT 1 FROM t WHERE a IN (:ids) AND b NOT IN ( :ids ) AND c IN (7, :ids) AND d = :ids_1";
        let params = json!({"ids": [1, 2], "ids_1": 9});
        let question = bound(sql, params.clone(), Style::Question).unwrap();
        assert_eq!(
            question.sql,
            "SELECT 1 FROM t WHERE a IN (?, ?) AND b NOT IN (?, ?) AND c IN (7, ?, ?) AND d = ?"
        );
        assert_eq!(question.values.iter().map(|(_, v)| v.clone()).collect::<Vec<_>>(), [1, 2, 1, 2, 1, 2, 9]);
        let numbered = bound(sql, params.clone(), Style::Numbered).unwrap();
        assert_eq!(
            numbered.sql,
            "SELECT 1 FROM t WHERE a = ANY($1) AND b <> ALL($1) AND c IN (7, $2, $3) AND d = $4"
        );
        let dollar = bound(sql, params, Style::Dollar).unwrap();
        assert!(
            dollar.sql.contains("a IN ($ids_1_, $ids_2)") && dollar.sql.ends_with("d = $ids_1"),
            "{dollar:?}"
        );
        let braces = bound("SELECT 1 WHERE x IN (:s)", json!({"s": ["a", "b"]}), Style::Braces).unwrap();
        assert_eq!(braces.sql, "SELECT 1 WHERE x IN ({s_1:String}, {s_2:String})");
    }

    #[test]
    fn an_empty_list_finds_nothing_and_excludes_nothing() {
        let sql = "SELECT 1 FROM t WHERE a IN (:ids) OR b NOT IN (:ids)";
        let got = bound(sql, json!({"ids": []}), Style::Dollar).unwrap();
        assert_eq!(
            got.sql,
            "SELECT 1 FROM t WHERE a IN (SELECT NULL WHERE 1 = 0) OR b NOT IN (SELECT NULL WHERE 1 = 0)"
        );
        assert!(got.values.is_empty());
        let got = bound(sql, json!({"ids": []}), Style::Numbered).unwrap();
        assert_eq!(got.sql, "SELECT 1 FROM t WHERE a = ANY($1) OR b <> ALL($1)");
    }

    #[test]
    fn lists_that_cannot_be_meant_are_refused() {
        let inside = "SELECT 1 FROM t WHERE a IN (:ids)";
        for (sql, ids, style, said) in [
            (inside, json!([1, "a"]), Style::Question, "mixes number and text"),
            (inside, json!([[1], [2]]), Style::Question, "holds lists"),
            (inside, json!([1, null]), Style::Question, "null"),
            (inside, json!((0..1001).collect::<Vec<_>>()), Style::Question, "1001 items"),
            ("SELECT 1 FROM t WHERE a IN (1, :ids)", json!([]), Style::Question, "one list"),
            ("SELECT 1 FROM t WHERE a = :ids", json!([1]), Style::Question, "IN (:ids)"),
            ("SELECT 1 FROM t WHERE a IN (abs(:ids))", json!([1]), Style::Question, "IN (:ids)"),
            ("SELECT 1 FROM t WHERE a IN (:ids + 1)", json!([1]), Style::Question, "IN (:ids)"),
        ] {
            let error = bound(sql, json!({"ids": ids}), style).unwrap_err().to_string();
            assert!(error.contains(said), "{sql}: {error}");
        }
    }
}
