//! Binds JSON values to PostgreSQL's parameters, as the type that the server expects at each place. Refuses what does not
//! fit, with what to write instead.

use std::str::FromStr;

use serde_json::Value;
use sqlx::postgres::{PgArguments, PgTypeInfo};
use sqlx::types::chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use sqlx::types::{BigDecimal, Json, Uuid};
use sqlx::{Arguments, TypeInfo};

use super::zone::Zone;

pub(super) fn add(
    arguments: &mut PgArguments,
    value: &Value,
    wanted: Option<&PgTypeInfo>,
    zone: &Zone,
) -> Result<(), String> {
    let kind = wanted.map_or("TEXT", |t| t.name());
    match (value, kind.strip_suffix("[]")) {
        (_, None) if matches!(kind, "JSON" | "JSONB") && !value.is_null() => {
            arguments.add(Json(value.clone())).map_err(|e| e.to_string())
        }
        (Value::Array(items), Some(kind)) => list(arguments, items, kind, zone),
        (Value::Array(_), None) => {
            Err(format!("is a list where a {kind} is expected; write IN (:name) or = ANY(:name)"))
        }
        (_, Some(_)) if !value.is_null() => Err("must be a list here".to_owned()),
        _ => one(arguments, value, kind, zone),
    }
}

fn one(arguments: &mut PgArguments, value: &Value, kind: &str, zone: &Zone) -> Result<(), String> {
    let text = match value {
        Value::Null => return arguments.add(None::<String>).map_err(|e| e.to_string()),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    };
    let outcome = match kind {
        "INT2" => arguments.add(parsed::<i16>(&text, kind)?),
        "INT4" => arguments.add(parsed::<i32>(&text, kind)?),
        "INT8" => arguments.add(parsed::<i64>(&text, kind)?),
        "FLOAT4" => arguments.add(parsed::<f32>(&text, kind)?),
        "FLOAT8" => arguments.add(parsed::<f64>(&text, kind)?),
        "NUMERIC" => arguments.add(parsed::<BigDecimal>(&text, kind)?),
        "BOOL" => arguments.add(parsed::<bool>(&text, kind)?),
        "DATE" => arguments.add(parsed::<NaiveDate>(&text, kind)?),
        "TIME" => arguments.add(parsed::<NaiveTime>(&text, kind)?),
        "TIMESTAMP" => arguments.add(clock(&text).ok_or_else(|| not(&text, kind))?),
        "TIMESTAMPTZ" => arguments.add(moment(&text, zone).ok_or_else(|| not(&text, kind))?),
        "UUID" => arguments.add(parsed::<Uuid>(&text, kind)?),
        "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "BPCHAR" => arguments.add(text),
        _ => return Err(unknown(kind)),
    };
    outcome.map_err(|e| e.to_string())
}

/// All items as one array of the type that stands in `= ANY(…)`.
fn list(arguments: &mut PgArguments, items: &[Value], kind: &str, zone: &Zone) -> Result<(), String> {
    let texts: Vec<String> = items
        .iter()
        .map(|item| match item {
            Value::String(s) => s.clone(),
            other => other.to_string(),
        })
        .collect();
    let outcome = match kind {
        "INT2" => arguments.add(all::<i16>(&texts, kind)?),
        "INT4" => arguments.add(all::<i32>(&texts, kind)?),
        "INT8" => arguments.add(all::<i64>(&texts, kind)?),
        "FLOAT4" => arguments.add(all::<f32>(&texts, kind)?),
        "FLOAT8" => arguments.add(all::<f64>(&texts, kind)?),
        "NUMERIC" => arguments.add(all::<BigDecimal>(&texts, kind)?),
        "BOOL" => arguments.add(all::<bool>(&texts, kind)?),
        "DATE" => arguments.add(all::<NaiveDate>(&texts, kind)?),
        "UUID" => arguments.add(all::<Uuid>(&texts, kind)?),
        "TIMESTAMP" => arguments.add(
            texts
                .iter()
                .map(|t| clock(t).ok_or_else(|| not(t, kind)))
                .collect::<Result<Vec<NaiveDateTime>, _>>()?,
        ),
        "TIMESTAMPTZ" => arguments.add(
            texts
                .iter()
                .map(|t| moment(t, zone).ok_or_else(|| not(t, kind)))
                .collect::<Result<Vec<DateTime<Utc>>, _>>()?,
        ),
        "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "BPCHAR" => arguments.add(texts),
        _ => return Err(unknown(&format!("{kind}[]"))),
    };
    outcome.map_err(|e| e.to_string())
}

fn all<T: FromStr>(texts: &[String], kind: &str) -> Result<Vec<T>, String> {
    texts.iter().map(|text| parsed(text, kind)).collect()
}

fn parsed<T: FromStr>(text: &str, kind: &str) -> Result<T, String> {
    text.parse().map_err(|_| not(text, kind))
}

fn not(text: &str, kind: &str) -> String {
    format!("`{text}` is not a {kind}")
}

fn unknown(kind: &str) -> String {
    format!("cannot be bound as {kind}; cast it in the query, e.g. :name::text::{kind}")
}

/// A moment with its offset, or the wall clock of the session's zone.
fn moment(text: &str, zone: &Zone) -> Option<DateTime<Utc>> {
    let with_offset = DateTime::parse_from_rfc3339(&text.replacen(' ', "T", 1)).ok();
    let with_offset = with_offset.map(|t| t.with_timezone(&Utc));
    with_offset.or_else(|| clock(text).and_then(|local| zone.moment(&local)))
}

/// A time of day may be missing, seconds too.
fn clock(text: &str) -> Option<NaiveDateTime> {
    let text = text.replace('T', " ");
    ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M"]
        .iter()
        .find_map(|f| NaiveDateTime::parse_from_str(&text, f).ok())
        .or_else(|| text.parse::<NaiveDate>().ok().and_then(|d| d.and_hms_opt(0, 0, 0)))
}
