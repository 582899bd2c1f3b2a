//! What a session on MySQL or one of its family starts with: who the account is, what the server is, which zone it keeps.
//! The statements are always the same ones, and a server that does not know one of them is used without it.

use std::time::Duration;

use sqlx::mysql::MySqlConnection;
use sqlx::{AssertSqlSafe, Column as _, Executor, Row};

use super::config::ConnectionConfig;
use super::grants;
use super::reach::failed;
use super::zone::{self, Zone};
use crate::DataError;

#[derive(Debug)]
pub(super) struct Learned {
    pub zone: Zone,
    /// The engine behind the protocol, when its READ ONLY transactions are no wall.
    pub pretender: Option<&'static str>,
    /// `SET time_zone`, where its owner wants another zone than the server's.
    set_zone: Option<String>,
    /// Nothing can be changed with this account, or its owner has taken that upon himself.
    harmless: bool,
}

/// Asks the server once. An account with FILE, SUPER or every privilege is refused; where transactions are no wall, so is
/// one that may change anything.
pub(super) async fn learn(
    connection: &mut MySqlConnection,
    config: &ConnectionConfig,
) -> Result<Learned, DataError> {
    let about = texts(connection, "SELECT VERSION(), @@version_comment").await.unwrap_or_default();
    let scheme = config.url.expose().split(':').next().unwrap_or_default();
    let pretender = grants::pretender(scheme, &about);
    let harmless = config.allow_superuser || vet(connection, pretender).await?;
    let set_zone = match &config.timezone {
        Some(name) => Some(choose_zone(connection, name).await?),
        None => None,
    };
    let zone = match &config.timezone {
        Some(name) => Zone::named(name),
        None => own_zone(connection).await,
    };
    Ok(Learned { zone, pretender, set_zone, harmless })
}

impl Learned {
    /// Limits the statement's time and starts the transaction that cannot write.
    pub(super) async fn begin(
        &self,
        connection: &mut MySqlConnection,
        timeout: Duration,
    ) -> Result<(), DataError> {
        limit_time(connection, timeout).await;
        if let Some(statement) = &self.set_zone {
            connection.execute(AssertSqlSafe(statement.as_str())).await.map_err(failed)?;
        }
        match connection.execute("START TRANSACTION READ ONLY").await {
            Ok(_) => Ok(()),
            Err(sqlx::Error::Database(error)) if self.harmless => {
                tracing::debug!(%error, "no READ ONLY transaction; the account can only read");
                Ok(())
            }
            Err(sqlx::Error::Database(_)) => Err(refused(
                "the server has no READ ONLY transactions, and its user may do more than read; use an account with SELECT only",
            )),
            Err(error) => Err(failed(error)),
        }
    }
}

async fn vet(connection: &mut MySqlConnection, pretender: Option<&str>) -> Result<bool, DataError> {
    let grants = texts(connection, "SHOW GRANTS").await.map_err(failed)?;
    if grants.iter().any(|grant| grants::is_mighty(grant)) {
        return Err(refused(
            "its user has ALL PRIVILEGES, SUPER or FILE on the whole server; use an account with SELECT only, or set \
             allow_superuser = true for this connection",
        ));
    }
    match (grants::only_reads(&grants), pretender) {
        (Ok(()), _) => Ok(true),
        (Err(_), None) => Ok(false),
        (Err(more), Some(engine)) => Err(refused(&format!(
            "its user has {more}, and a READ ONLY transaction does not hold it back on {engine}; use an account with SELECT only, or set \
             allow_superuser = true for this connection"
        ))),
    }
}

fn refused(message: &str) -> DataError {
    DataError::Unsafe { name: String::new(), message: message.to_owned() }
}

/// MariaDB counts seconds, MySQL milliseconds; the one that does not know a name says so, and that is fine.
async fn limit_time(connection: &mut MySqlConnection, timeout: Duration) {
    let seconds = format!("SET SESSION max_statement_time = {}", timeout.as_secs_f64());
    if connection.execute(AssertSqlSafe(seconds)).await.is_err() {
        let milliseconds = format!("SET SESSION max_execution_time = {}", timeout.as_millis());
        if let Err(error) = connection.execute(AssertSqlSafe(milliseconds)).await {
            tracing::warn!(%error, "the server has no statement timeout; the query is cancelled from outside");
        }
    }
}

/// The statement that sets the zone. A server without tables of zones knows offsets only, and that is enough for a zone
/// that has one offset all the year.
async fn choose_zone(connection: &mut MySqlConnection, name: &str) -> Result<String, DataError> {
    let by_offset = zone::only_offset(name);
    for zone in [Some(name), by_offset.as_deref()].into_iter().flatten() {
        let statement = format!("SET time_zone = '{zone}'");
        match connection.execute(AssertSqlSafe(statement.as_str())).await {
            Ok(_) => return Ok(statement),
            Err(sqlx::Error::Database(_)) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    let message = format!(
        "the server does not know the time zone {name}; load its tables of zones, or write an offset"
    );
    Err(DataError::Connection { name: String::new(), message })
}

/// The zone the server gives its sessions.
async fn own_zone(connection: &mut MySqlConnection) -> Zone {
    let told = texts(connection, "SELECT @@session.time_zone, @@system_time_zone").await.unwrap_or_default();
    let (name, system) = match told.as_slice() {
        [name, system, ..] => (name.clone(), system.clone()),
        [name] => (name.clone(), String::new()),
        [] => return Zone::named("unknown"),
    };
    let named = Zone::named(&name);
    if named.is_known() {
        return named;
    }
    let label = if name.eq_ignore_ascii_case("SYSTEM") { format!("SYSTEM ({system})") } else { name };
    match only_offset_of(connection).await {
        Some(seconds) => Zone::fixed(&label, seconds),
        None => Zone::named(&label),
    }
}

/// The offset of the session's zone, when it is the same in every winter and summer of these years. The system's zone has
/// only an abbreviation for a name, and `CST` may be three places.
async fn only_offset_of(connection: &mut MySqlConnection) -> Option<i32> {
    let days = (1995..=2035).step_by(5).flat_map(|year| [format!("{year}-01-01"), format!("{year}-07-01")]);
    // The same wall clock, read in the session's zone and as a plain count of seconds.
    let picks: Vec<String> = days
        .map(|day| {
            format!("CAST(TIMESTAMPDIFF(SECOND, '1970-01-01 00:00:00', '{day} 00:00:00') - UNIX_TIMESTAMP('{day} 00:00:00') AS CHAR)")
        })
        .collect();
    let sql = format!("SELECT {}", picks.join(", "));
    let told = texts(connection, &sql).await.ok()?;
    let seconds: Vec<f64> = told.iter().filter_map(|t| t.parse().ok()).collect();
    let first = *seconds.first()?;
    let same = seconds.len() == picks.len() && seconds.iter().all(|s| *s == first);
    same.then(|| format!("{first:.0}").parse().ok()).flatten()
}

/// Every text of an answer, row by row.
async fn texts(connection: &mut MySqlConnection, sql: &str) -> Result<Vec<String>, sqlx::Error> {
    let rows = connection.fetch_all(AssertSqlSafe(sql)).await?;
    let cells = rows.iter().flat_map(|row| {
        row.columns().iter().filter_map(|c| {
            let i = c.ordinal();
            let text = row.try_get_unchecked::<Option<String>, _>(i).ok().flatten();
            text.or_else(|| {
                let raw = row.try_get_unchecked::<Option<Vec<u8>>, _>(i).ok().flatten();
                raw.map(|raw| String::from_utf8_lossy(&raw).into_owned())
            })
        })
    });
    Ok(cells.collect())
}
