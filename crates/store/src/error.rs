//! What can go wrong in the store, by who must react. Never carries a secret or a whole statement's data.

use ba_protocol::ids::InvalidId;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It does not exist, or belongs to someone else: the two are not told apart.
    #[error("{what} not found")]
    NotFound { what: String },
    /// What was asked contradicts what is stored (a run that has ended, a name already taken).
    #[error("{0}")]
    Conflict(String),
    /// The input breaks a rule of the store.
    #[error("{0}")]
    Invalid(String),
    /// More bytes than allowed.
    #[error("{what} is larger than the limit of {limit} bytes")]
    TooLarge { what: String, limit: u64 },
    /// A person's files together would be more than they may keep. Works again when they delete some.
    #[error("your files together may have {}; delete files or conversations first", ba_protocol::text::human_size(*limit))]
    Quota { limit: u64 },
    /// No space left. Nothing was acknowledged; it works again when space returns.
    #[error("the storage is full: {0}")]
    Full(String),
    /// The database was written by a newer version of the program.
    #[error("the database has schema version {found}, this program knows up to {known}: use a newer program")]
    NewerSchema { found: i64, known: i64 },
    /// The database file is damaged. Nothing was overwritten.
    #[error("the database is damaged and was left as it is: {0}")]
    Corrupt(String),
    /// Another process holds what was asked for.
    #[error("{0}")]
    InUse(String),
    /// The database or the object storage cannot be reached or answered with an error.
    #[error("storage error: {0}")]
    Unavailable(String),
    /// Reading or writing a file failed.
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
}

impl StoreError {
    pub fn not_found(what: impl Into<String>) -> Self {
        Self::NotFound { what: what.into() }
    }

    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }

    /// Whether the same call may work in a while, with nothing else changed.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Full(_) | Self::Unavailable(_) | Self::Io { .. })
    }

    /// Names the file or step; a full disk becomes `Full`.
    pub fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        let what = what.into();
        match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                Self::Full(format!("{what}: {source}"))
            }
            _ => Self::Io { what, source },
        }
    }
}

impl From<InvalidId> for StoreError {
    fn from(e: InvalidId) -> Self {
        Self::Invalid(e.to_string())
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(e: serde_json::Error) -> Self {
        Self::Corrupt(format!("a stored document cannot be read: {e}"))
    }
}

pub type Result<T, E = StoreError> = std::result::Result<T, E>;
