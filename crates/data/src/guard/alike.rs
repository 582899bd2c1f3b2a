//! A statement over uploads, written in DuckDB's SQL, for an engine that speaks Spark's (SPEC N5): only what both understand
//! alike. Everything else is left to DuckDB: a function or a cast that the other engine reads in its own way would give
//! another figure without a word.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, GroupByExpr, Ident, LimitClause, ObjectName, ObjectNamePart, OrderBy, OrderByExpr,
    OrderByKind, Query, SelectItem, SetExpr, Statement, TableFactor, UnaryOperator, Value, ValueWithSpan,
    VisitMut, VisitorMut, WindowType,
};

use super::{Checked, Dialect, FileTable, over};

const AGGREGATES: &[&str] = &[
    "avg",
    "corr",
    "count",
    "max",
    "median",
    "min",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "var_pop",
    "var_samp",
    "variance",
];
/// Those that give the same on both engines, whatever they are given.
const OTHERS: &[&str] = &[
    "abs",
    "coalesce",
    "day",
    "dense_rank",
    "first_value",
    "lag",
    "last_value",
    "lead",
    "length",
    "lower",
    "month",
    "ntile",
    "nullif",
    "quarter",
    "rank",
    "replace",
    "round",
    "row_number",
    "strftime",
    "trim",
    "upper",
    "year",
];

/// The statement for the engine; `None` where DuckDB has to answer it.
pub fn check_alike(sql: &str, tables: &[FileTable]) -> Option<Checked> {
    stacker::grow(super::STACK_BYTES, || translated(sql, tables))
}

fn translated(sql: &str, tables: &[FileTable]) -> Option<Checked> {
    let mut statement =
        super::understood(&super::lexed(sql, Dialect::DuckDb).ok()?, Dialect::DuckDb, &[]).ok()?;
    let Statement::Query(query) = &mut statement else { return None };
    // Rows that nothing puts in order come from DuckDB as they stand in the file.
    if query.order_by.is_none() && !gathers(&query.body) {
        return None;
    }
    if query.visit(&mut Alike).is_break() {
        return None;
    }
    over::name_files(query, tables).ok()?;
    super::rewritten(&statement, Dialect::Spark).ok()
}

/// Whether rows are only groups, or different ones: their order means nothing.
fn gathers(body: &SetExpr) -> bool {
    let SetExpr::Select(select) = body else { return false };
    let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
    let aggregate = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => aggregates(expr),
        _ => false,
    };
    grouped || select.projection.iter().any(aggregate)
}

/// Whether an expression holds an aggregate of its own rows.
fn aggregates(expr: &Expr) -> bool {
    match expr {
        Expr::Function(f) if f.over.is_none() && AGGREGATES.contains(&name_of(f).as_str()) => true,
        Expr::Function(Function { args: FunctionArguments::List(list), over: None, .. }) => {
            let holds = |arg: &FunctionArg| matches!(arg, FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) if aggregates(e));
            list.args.iter().any(holds)
        }
        Expr::BinaryOp { left, right, .. } => aggregates(left) || aggregates(right),
        Expr::UnaryOp { expr, .. } | Expr::Nested(expr) | Expr::Cast { expr, .. } => aggregates(expr),
        _ => false,
    }
}

fn name_of(function: &Function) -> String {
    match function.name.0.as_slice() {
        [ObjectNamePart::Identifier(name)] => name.value.to_lowercase(),
        _ => String::new(),
    }
}

struct Alike;

type Flow = ControlFlow<()>;
const GO: Flow = ControlFlow::Continue(());
const STOP: Flow = ControlFlow::Break(());

fn only_if(alike: bool) -> Flow {
    if alike { GO } else { STOP }
}

impl VisitorMut for Alike {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> Flow {
        if let Some(OrderBy { kind, interpolate }) = &mut query.order_by {
            let OrderByKind::Expressions(by) = kind else { return STOP };
            blanks_last(by);
            only_if(interpolate.is_none())?;
        }
        let limited = match &query.limit_clause {
            None => false,
            Some(LimitClause::LimitOffset { limit_by, .. }) if limit_by.is_empty() => true,
            Some(_) => return STOP,
        };
        only_if(!limited || query.order_by.is_some())?;
        only_if(query.fetch.is_none() && query.pipe_operators.is_empty() && is_plain(&query.body))
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        match factor {
            TableFactor::Table { name, alias, args: None, sample: None, version: None, .. } => {
                name.0.iter_mut().for_each(|part| {
                    if let ObjectNamePart::Identifier(name) = part {
                        requote(name);
                    }
                });
                if let Some(alias) = alias {
                    requote(&mut alias.name);
                }
                GO
            }
            TableFactor::Derived { lateral: false, alias, sample: None, .. } => {
                if let Some(alias) = alias {
                    requote(&mut alias.name);
                }
                GO
            }
            TableFactor::NestedJoin { .. } => GO,
            _ => STOP,
        }
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        match expr {
            Expr::Identifier(name) => requote(name),
            Expr::CompoundIdentifier(names) => names.iter_mut().for_each(requote),
            Expr::BinaryOp { left, op, .. } => {
                use BinaryOperator::{
                    And, Divide, Eq, Gt, GtEq, Lt, LtEq, Minus, Modulo, Multiply, NotEq, Or, Plus,
                    StringConcat,
                };
                // Of two decimals the other engine makes a decimal with few digits.
                if *op == Divide {
                    as_double(left);
                    return GO;
                }
                let alike = matches!(
                    op,
                    And | Eq
                        | Gt
                        | GtEq
                        | Lt
                        | LtEq
                        | Minus
                        | Modulo
                        | Multiply
                        | NotEq
                        | Or
                        | Plus
                        | StringConcat
                );
                return only_if(alike);
            }
            Expr::UnaryOp { op, .. } => {
                return only_if(matches!(
                    op,
                    UnaryOperator::Not | UnaryOperator::Minus | UnaryOperator::Plus
                ));
            }
            // A backslash is a character here and escapes there.
            Expr::Like { pattern, escape_char: None, any: false, .. } => {
                return only_if(is_text_without_backslash(pattern));
            }
            Expr::Extract { field, .. } => {
                use DateTimeField::{Day, Hour, Minute, Month, Quarter, Year};
                return only_if(matches!(field, Year | Quarter | Month | Day | Hour | Minute));
            }
            // Whole numbers are rounded here and cut there; texts that are no numbers end both, or neither.
            Expr::Cast { kind: CastKind::Cast, data_type, format: None, .. } => {
                return only_if(matches!(data_type, DataType::Double(_)));
            }
            Expr::TypedString(text) => return only_if(matches!(text.data_type, DataType::Date)),
            Expr::Function(function) => return call(function),
            Expr::Value(_)
            | Expr::Nested(_)
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::InList { .. }
            | Expr::InSubquery { .. }
            | Expr::Between { .. }
            | Expr::Case { .. }
            | Expr::Exists { .. }
            | Expr::Subquery(_) => {}
            _ => return STOP,
        }
        GO
    }

    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> Flow {
        match &mut value.value {
            Value::SingleQuotedString(raw) => {
                let text = raw.replace("''", "'");
                value.value = Value::Placeholder(Dialect::Spark.quoted_text(&text));
                GO
            }
            Value::Number(..) | Value::Boolean(_) | Value::Null => GO,
            Value::Placeholder(name) => only_if(name.starts_with(':')),
            _ => STOP,
        }
    }
}

/// DuckDB puts blanks last in either direction, Spark first.
fn blanks_last(by: &mut [OrderByExpr]) {
    for expr in by {
        expr.options.nulls_first.get_or_insert(false);
    }
}

fn requote(name: &mut Ident) {
    if name.quote_style.is_some() {
        name.quote_style = Some('`');
    }
}

/// Selects, alone or put together; the names that they give get the other quotes.
fn is_plain(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(select) => {
            select.qualify.is_none() && select.named_window.is_empty() && select.lateral_views.is_empty()
        }
        SetExpr::Query(_) => true,
        SetExpr::SetOperation { left, right, .. } => is_plain(left) && is_plain(right),
        _ => false,
    }
}

fn is_text_without_backslash(expr: &Expr) -> bool {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => !text.contains('\\'),
        _ => false,
    }
}

fn as_double(expr: &mut Expr) {
    let inner = std::mem::replace(expr, Expr::value(Value::Null));
    *expr = Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(inner),
        data_type: DataType::Double(sqlparser::ast::ExactNumberInfo::None),
        format: None,
    };
}

fn call(function: &mut Function) -> Flow {
    let name = name_of(function);
    only_if(AGGREGATES.contains(&name.as_str()) || OTHERS.contains(&name.as_str()))?;
    only_if(function.within_group.is_empty() && function.null_treatment.is_none())?;
    match &mut function.over {
        None => {}
        Some(WindowType::WindowSpec(window)) if window.window_name.is_none() => {
            blanks_last(&mut window.order_by)
        }
        Some(_) => return STOP,
    }
    let FunctionArguments::List(list) = &mut function.args else { return STOP };
    only_if(list.clauses.is_empty())?;
    match (name.as_str(), list.args.as_mut_slice()) {
        // A mean of decimals has few digits there.
        ("avg", [FunctionArg::Unnamed(FunctionArgExpr::Expr(of))]) => as_double(of),
        (
            "strftime",
            [
                FunctionArg::Unnamed(FunctionArgExpr::Expr(_)),
                FunctionArg::Unnamed(FunctionArgExpr::Expr(form)),
            ],
        ) => {
            let Some(translated) = java_form(form) else { return STOP };
            *form = Expr::value(Value::SingleQuotedString(translated));
            function.name = ObjectName::from(vec![Ident::new("date_format")]);
        }
        ("avg" | "strftime", _) => return STOP,
        _ => {}
    }
    GO
}

/// `%Y-%m` → `yyyy-MM`; other letters and signs are left to DuckDB.
fn java_form(form: &Expr) -> Option<String> {
    let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = form else { return None };
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' => out.push_str(match chars.next()? {
                'Y' => "yyyy",
                'm' => "MM",
                'd' => "dd",
                _ => return None,
            }),
            '-' | '/' | '.' | ' ' => out.push(c),
            _ => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(sql: &str) -> Option<String> {
        let tables =
            [FileTable { names: vec!["销售".into(), "upload_001".into()], url: "s3://b/p/ab/ab12".into() }];
        check_alike(sql, &tables).map(|checked| checked.sql().to_owned())
    }

    // SPEC N5
    #[test]
    fn what_both_engines_read_alike_is_translated() {
        for (sql, want) in [
            (
                "SELECT \"地区\", sum(\"销售额\") AS s FROM \"销售\" WHERE \"备注\" = 'it''s \\ x' GROUP BY 1 ORDER BY s DESC LIMIT 3",
                "SELECT `地区`, sum(`销售额`) AS s FROM parquet.`s3://b/p/ab/ab12` AS `销售` WHERE `备注` = 'it\\'s \\\\ x' GROUP BY 1 ORDER BY s DESC NULLS LAST LIMIT 3",
            ),
            (
                "SELECT avg(a) / 2 AS m FROM upload_001",
                "SELECT CAST(avg(CAST(a AS DOUBLE)) AS DOUBLE) / 2 AS m FROM parquet.`s3://b/p/ab/ab12` AS `upload_001`",
            ),
            (
                "SELECT strftime(d, '%Y-%m') AS m, count(*) FROM upload_001 GROUP BY m",
                "SELECT date_format(d, 'yyyy-MM') AS m, count(*) FROM parquet.`s3://b/p/ab/ab12` AS `upload_001` GROUP BY m",
            ),
            (
                "SELECT a, row_number() OVER (ORDER BY b DESC) FROM upload_001 WHERE c = :c ORDER BY a",
                "SELECT a, row_number() OVER (ORDER BY b DESC NULLS LAST) FROM parquet.`s3://b/p/ab/ab12` AS `upload_001` WHERE c = :c ORDER BY a NULLS LAST",
            ),
        ] {
            assert_eq!(alike(sql).as_deref(), Some(want), "{sql}");
        }
    }

    #[test]
    fn everything_else_is_left_to_duckdb() {
        for sql in [
            "SELECT * FROM upload_001",
            "SELECT a FROM upload_001 LIMIT 5",
            "SELECT a, count(*) FROM (SELECT a FROM upload_001 LIMIT 5) t GROUP BY a",
            "SELECT count(*) FROM other",
            "SELECT count(*) FROM 's3://b/p/cd/x'",
            "SELECT count(*) FROM read_parquet('s3://b/x')",
            "SELECT sum(CAST(a AS INTEGER)) FROM upload_001",
            "SELECT sum(a::INT) FROM upload_001",
            "SELECT log(sum(a)) AS x, sum(a) FROM upload_001",
            "SELECT extract(dow FROM d), count(*) FROM upload_001 GROUP BY 1",
            "SELECT strftime(d, '%W'), count(*) FROM upload_001 GROUP BY 1",
            "SELECT count(*) FROM upload_001 WHERE a LIKE 'x\\_%'",
            "SELECT count(*) FROM upload_001 WHERE a ~ 'x'",
            "SELECT sum(a) FROM upload_001 USING SAMPLE 10%",
            "SELECT list(a) FROM upload_001",
            "SELECT concat(a, b), count(*) FROM upload_001 GROUP BY 1",
            "SUMMARIZE upload_001",
            "DESCRIBE upload_001",
            "SELECT d + INTERVAL 1 MONTH, count(*) FROM upload_001 GROUP BY 1",
            "SELECT a // b, count(*) FROM upload_001 GROUP BY 1",
            "SELECT date_trunc('month', d), count(*) FROM upload_001 GROUP BY 1",
        ] {
            assert_eq!(alike(sql), None, "{sql}");
        }
    }
}
