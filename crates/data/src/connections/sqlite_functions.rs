//! Functions of SQLite that take the product of their arguments' lengths, written again so that they take the sum. The engine
//! looks at its clock between steps only, and one call is one step: `instr` of two long values would hold a thread for hours.

use std::borrow::Cow;
use std::collections::HashSet;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::limits::Limit;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result, ffi};

use super::sqlite::MAX_VALUE_BYTES;

/// A pattern is compared at every place of a value.
const MAX_PATTERN_BYTES: i32 = 256;

pub(super) fn replace_slow_ones(connection: &Connection) -> Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_PATTERN_BYTES)?;
    let pure = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        // They may stand in views and indexes, as those that they stand for.
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("instr", 2, pure, |c| Ok(instr(c.get_raw(0), c.get_raw(1))))?;
    connection.create_scalar_function("replace", 3, pure, replace)?;
    connection.create_scalar_function("trim", 2, pure, |c| Ok(trim(c, true, true)))?;
    connection.create_scalar_function("ltrim", 2, pure, |c| Ok(trim(c, true, false)))?;
    connection.create_scalar_function("rtrim", 2, pure, |c| Ok(trim(c, false, true)))?;
    for (name, arguments) in [("unhex", 2), ("json_patch", 2)] {
        connection.create_scalar_function(name, arguments, pure, move |_| {
            let why = format!("{name} with {arguments} arguments is not available here");
            Err::<Value, _>(Error::UserFunctionError(why.into()))
        })?;
    }
    Ok(())
}

/// Counted from 1: in characters, or in bytes where both are blobs.
fn instr(value: ValueRef<'_>, wanted: ValueRef<'_>) -> Option<i64> {
    let found = if let (ValueRef::Blob(value), ValueRef::Blob(wanted)) = (value, wanted) {
        memchr::memmem::find(value, wanted)
    } else {
        let (value, wanted) = (text(value)?, text(wanted)?);
        value.find(wanted.as_ref()).map(|at| value[..at].chars().count())
    };
    if matches!((value, wanted), (ValueRef::Null, _) | (_, ValueRef::Null)) {
        return None;
    }
    Some(found.map_or(0, |at| i64::try_from(at).unwrap_or(i64::MAX - 1) + 1))
}

fn replace(context: &Context<'_>) -> Result<Value> {
    let [value, old, new] = [0, 1, 2].map(|i| text(context.get_raw(i)));
    let (Some(value), Some(old), Some(new)) = (value, old, new) else { return Ok(Value::Null) };
    if old.is_empty() {
        return Ok(Value::Text(value.into_owned()));
    }
    let places = value.matches(old.as_ref()).count();
    let length = value.len().saturating_add(places.saturating_mul(new.len().saturating_sub(old.len())));
    if length > MAX_VALUE_BYTES {
        return Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), None));
    }
    Ok(Value::Text(value.replace(old.as_ref(), &new)))
}

fn trim(context: &Context<'_>, left: bool, right: bool) -> Value {
    let (Some(value), Some(set)) = (text(context.get_raw(0)), text(context.get_raw(1))) else {
        return Value::Null;
    };
    let set: HashSet<char> = set.chars().collect();
    let mut kept = value.as_ref();
    if left {
        kept = kept.trim_start_matches(|c| set.contains(&c));
    }
    if right {
        kept = kept.trim_end_matches(|c| set.contains(&c));
    }
    Value::Text(kept.to_owned())
}

/// A value as SQLite writes it.
fn text(value: ValueRef<'_>) -> Option<Cow<'_, str>> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string().into()),
        ValueRef::Real(f) => Some(real(f).into()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes)),
    }
}

/// `%!.15g`: fifteen digits, and always a point.
fn real(f: f64) -> String {
    if !f.is_finite() {
        return if f > 0.0 { "Inf" } else { "-Inf" }.to_owned();
    }
    let written = format!("{f:.14e}");
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-5..15).contains(&exponent) {
        let digits = digits.trim_end_matches('0');
        let digits = if digits.ends_with('.') { format!("{digits}0") } else { digits.to_owned() };
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let places = usize::try_from(14 - exponent).unwrap_or(0);
    let fixed = format!("{f:.places$}");
    let fixed =
        if fixed.contains('.') { fixed.trim_end_matches('0').to_owned() } else { format!("{fixed}.") };
    if fixed.ends_with('.') { format!("{fixed}0") } else { fixed }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ours beside the engine's own, on values of every kind.
    #[test]
    fn they_answer_as_the_engines_own() {
        let (ours, own) = (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
        replace_slow_ones(&ours).unwrap();
        let values = [
            "NULL",
            "''",
            "'a'",
            "'b'",
            "'abcabc'",
            "'销售额销'",
            "'销'",
            "1",
            "-12.5",
            "1.0",
            "1e20",
            "1.5e-7",
            "0.1",
            "123456789.123456789",
            "9007199254740993",
            "x'616263'",
            "x'62'",
            "'1.0'",
            "'.'",
            "'c'",
        ];
        let ask = |db: &Connection, sql: &str| -> String {
            db.query_row(sql, [], |row| row.get::<_, Value>(0))
                .map(|v| format!("{v:?}"))
                .unwrap_or_else(|e| e.to_string())
        };
        let mut seen = 0;
        for a in values {
            for b in values {
                for sql in [
                    format!("SELECT instr({a}, {b})"),
                    format!("SELECT hex(trim({a}, {b}))"),
                    format!("SELECT ltrim({a}, {b}) || '|' || rtrim({a}, {b})"),
                    format!(
                        "SELECT replace({a}, {b}, 'xy') || '|' || replace({a}, {b}, '') || '|' || replace({a}, 'b', {b})"
                    ),
                ] {
                    assert_eq!(ask(&ours, &sql), ask(&own, &sql), "{sql}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 1_000, "{seen}");
        assert_eq!(ask(&ours, "SELECT 'Abc' LIKE '%b%' AND unhex('62') = x'62'"), "Integer(1)");
    }

    #[test]
    fn what_would_take_hours_takes_no_time() {
        let db = Connection::open_in_memory().unwrap();
        replace_slow_ones(&db).unwrap();
        for sql in [
            "SELECT instr(zeroblob(16000000), CAST(zeroblob(8000000) || x'01' AS BLOB))",
            "SELECT instr(hex(zeroblob(8000000)), hex(zeroblob(4000000)) || '1')",
            "SELECT length(replace(hex(zeroblob(8000000)), hex(zeroblob(4000000)) || '1', 'x')) = 0",
            "SELECT length(trim(printf('%.*c', 8000000, 'z'), printf('%.*c', 8000000, 'a') || 'z'))",
        ] {
            assert_eq!(db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap(), 0, "{sql}");
        }
        let long = "SELECT 'x' LIKE '%' || printf('%.*c', 20000, '0')";
        assert!(
            db.query_row(long, [], |row| row.get::<_, i64>(0))
                .unwrap_err()
                .to_string()
                .contains("too complex")
        );
        let grown = db.query_row(
            "SELECT replace(printf('%.*c', 8000, 'a'), 'a', printf('%.*c', 8000, 'b'))",
            [],
            |row| row.get::<_, String>(0),
        );
        assert_eq!(grown.unwrap_err().sqlite_error_code(), Some(rusqlite::ErrorCode::TooBig));
    }
}
