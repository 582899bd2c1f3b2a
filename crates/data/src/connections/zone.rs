//! The time zone a session works in: the server's own, or the one its owner configured. Times with a zone are shown in
//! it with their offset. Never guesses: where an offset cannot be known for sure, the time is shown without one.

use jiff::civil;
use jiff::tz::{Offset, TimeZone};
use sqlx::types::chrono::{DateTime, NaiveDateTime, Utc};

#[derive(Debug, Clone)]
pub(super) struct Zone {
    /// As the server calls it, for people and models.
    pub label: String,
    rule: Rule,
}

#[derive(Debug, Clone)]
enum Rule {
    Known(TimeZone),
    Unknown,
}

impl Zone {
    /// A name of the zone database, or an offset such as `+08:00`.
    pub(super) fn named(name: &str) -> Self {
        let zone = offset(name).map(TimeZone::fixed).or_else(|| TimeZone::get(name).ok());
        Self { label: name.to_owned(), rule: zone.map_or(Rule::Unknown, Rule::Known) }
    }

    /// A zone that was seen to have one offset all the time.
    pub(super) fn fixed(label: &str, seconds: i32) -> Self {
        match Offset::from_seconds(seconds) {
            Ok(offset) => Self {
                label: format!("{label}, UTC{}", written(offset)),
                rule: Rule::Known(TimeZone::fixed(offset)),
            },
            Err(_) => Self { label: label.to_owned(), rule: Rule::Unknown },
        }
    }

    pub(super) fn is_known(&self) -> bool {
        matches!(self.rule, Rule::Known(_))
    }

    /// `+08` at a moment of the wall clock; `None` where it cannot be known.
    pub(super) fn offset_at(&self, local: &NaiveDateTime) -> Option<String> {
        let Rule::Known(zone) = &self.rule else { return None };
        let moment = zone.to_timestamp(civil_of(local)?).ok()?;
        Some(written(zone.to_offset(moment)))
    }

    /// The moment that a wall clock in this zone shows.
    pub(super) fn moment(&self, local: &NaiveDateTime) -> Option<DateTime<Utc>> {
        let Rule::Known(zone) = &self.rule else { return None };
        let moment = zone.to_timestamp(civil_of(local)?).ok()?;
        DateTime::from_timestamp(
            moment.as_second(),
            u32::try_from(moment.subsec_nanosecond()).unwrap_or_default(),
        )
    }

    /// `2024-01-02T03:04:05.678Z` as this zone's wall clock shows it, with the offset.
    pub(super) fn local(&self, utc: &str) -> Option<String> {
        let Rule::Known(zone) = &self.rule else { return None };
        let moment: jiff::Timestamp = utc.parse().ok()?;
        let fraction = utc.find('.').map_or("", |at| utc[at..].trim_end_matches('Z'));
        let shift = zone.to_offset(moment);
        let wall = shift.to_datetime(moment);
        Some(format!("{}{fraction}{}", wall.strftime("%Y-%m-%d %H:%M:%S"), written(shift)))
    }
}

/// The one offset of a zone of the database that has not changed its clocks since 1992 and will not: `+08:00`.
pub(super) fn only_offset(name: &str) -> Option<String> {
    let zone = TimeZone::get(name).ok()?;
    let start = civil::date(1992, 1, 1).at(0, 0, 0, 0).to_zoned(TimeZone::UTC).ok()?.timestamp();
    let changes = zone.following(start).any(|t| t.offset() != zone.to_offset(start));
    let seconds = zone.to_offset(start).seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.abs() / 60;
    (!changes).then(|| format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60))
}

/// Whether a text may stand for a zone in a statement: it names a zone of the database, or is an offset.
pub(super) fn is_zone(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '+' | '-' | ':');
    !name.is_empty() && name.len() <= 64 && name.chars().all(plain) && Zone::named(name).is_known()
}

pub(super) fn is_offset(name: &str) -> bool {
    offset(name).is_some()
}

/// `+08:00` or `-03:30`.
fn offset(text: &str) -> Option<Offset> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let part = |t: &str| (t.len() == 2).then(|| t.parse::<i32>().ok()).flatten();
    let (hours, minutes) = (part(hours)?, part(minutes)?);
    if hours > 14 || minutes > 59 {
        return None;
    }
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
}

/// As PostgreSQL writes it: `+08`, `+05:30`.
fn written(offset: Offset) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let (hours, minutes, rest) = (seconds.abs() / 3600, seconds.abs() / 60 % 60, seconds.abs() % 60);
    match (minutes, rest) {
        (0, 0) => format!("{sign}{hours:02}"),
        (_, 0) => format!("{sign}{hours:02}:{minutes:02}"),
        _ => format!("{sign}{hours:02}:{minutes:02}:{rest:02}"),
    }
}

fn civil_of(local: &NaiveDateTime) -> Option<civil::DateTime> {
    local.format("%Y-%m-%dT%H:%M:%S%.f").to_string().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> NaiveDateTime {
        NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").unwrap()
    }

    #[test]
    fn offsets_follow_the_zone_and_its_summer() {
        let berlin = Zone::named("Europe/Berlin");
        assert_eq!(berlin.offset_at(&at("2024-01-02 03:04:05")).as_deref(), Some("+01"));
        assert_eq!(berlin.offset_at(&at("2024-07-02 03:04:05")).as_deref(), Some("+02"));
        assert_eq!(Zone::named("-03:30").offset_at(&at("2024-01-01 00:00:00")).as_deref(), Some("-03:30"));
        assert_eq!(Zone::named("Nowhere/City").offset_at(&at("2024-01-01 00:00:00")), None);
        let shanghai = Zone::named("Asia/Shanghai");
        assert_eq!(shanghai.local("2024-01-01T18:04:05.678Z").as_deref(), Some("2024-01-02 02:04:05.678+08"));
        assert_eq!(
            shanghai.moment(&at("2024-01-02 00:00:00")).unwrap().to_rfc3339(),
            "2024-01-01T16:00:00+00:00"
        );
    }

    #[test]
    fn a_zone_is_a_name_or_an_offset_and_nothing_that_could_end_a_text() {
        for good in ["Asia/Shanghai", "UTC", "+08:00", "Etc/GMT+8"] {
            assert!(is_zone(good), "{good}");
        }
        for bad in ["", "Asia/Nowhere", "UTC'; DROP TABLE t; --", "+8", "+99:00", "SYSTEM"] {
            assert!(!is_zone(bad), "{bad}");
        }
        assert_eq!(only_offset("Asia/Shanghai").as_deref(), Some("+08:00"));
        assert_eq!(only_offset("Europe/Berlin"), None);
    }
}
