//! The wire between the driver and a server, with a meter on it. A driver holds a whole row, a whole error message, before
//! anybody can look at it; so the bytes are counted on their way, and past the budget the wire is cut. Of PostgreSQL it reads
//! the head of every message too (`pg_messages`), because the driver believes the length that it says; of MySQL it knows
//! nothing, and sees no plain text where that connection is encrypted.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::task::JoinHandle;

use super::pg_line::PgLine;
use super::pg_messages::Messages;
use super::rows::MAX_ROW_BYTES;

/// Bytes read at once.
const PIECE: usize = 128 << 10;

/// Either end of a wire.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// Where a server listens.
#[derive(Debug, Clone)]
pub(super) enum Place {
    Network {
        host: String,
        port: u16,
    },
    File(PathBuf),
    /// Any place; the line is encrypted here, not by the driver.
    Postgres(PgLine),
}

impl Place {
    pub(super) fn network(host: &str, port: u16) -> Self {
        Self::Network { host: host.trim_matches(['[', ']']).to_owned(), port }
    }

    pub(super) async fn connect(&self) -> io::Result<Box<dyn Stream>> {
        Ok(match self {
            Self::Network { host, port } => {
                let server = TcpStream::connect((host.as_str(), *port)).await?;
                server.set_nodelay(true)?;
                Box::new(server)
            }
            Self::File(path) => Box::new(UnixStream::connect(path).await?),
            Self::Postgres(line) => line.connect().await?,
        })
    }

    /// What reads the server's messages before the driver does.
    fn messages(&self) -> Option<Messages> {
        matches!(self, Self::Postgres(_)).then(Messages::default)
    }
}

/// One connection's way to its server. Dropped, both ends are closed.
pub(super) struct Wire {
    /// Nobody else may look into it.
    folder: TempDir,
    file: PathBuf,
    meter: Arc<Meter>,
    relay: JoinHandle<()>,
}

impl Wire {
    /// Reaches the server, and waits for one driver at the socket `name` of a folder of its own.
    pub(super) async fn to(place: &Place, name: &str) -> io::Result<Self> {
        let meter = Arc::new(Meter::default());
        let folder = tempfile::Builder::new().prefix("ba-wire").tempdir()?;
        let file = folder.path().join(name);
        let server = place.connect().await?;
        let listener = UnixListener::bind(&file)?;
        let relay = tokio::spawn(relay(listener, server, meter.clone(), place.messages()));
        Ok(Self { folder, file, meter, relay })
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.relay.abort();
    }
}

/// Counts what came since the last row that was taken.
#[derive(Debug, Default)]
pub(super) struct Meter {
    bytes: AtomicUsize,
    over: AtomicBool,
}

impl Meter {
    /// A row has come out at the other end: the driver holds nothing of it any more.
    pub(super) fn taken(&self) {
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// The wire was cut.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn passes(&self, bytes: usize) -> bool {
        let within = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes <= MAX_ROW_BYTES;
        if !within {
            self.cut();
        }
        within
    }

    fn cut(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

async fn relay(
    listener: UnixListener,
    server: Box<dyn Stream>,
    meter: Arc<Meter>,
    mut messages: Option<Messages>,
) {
    let Ok((driver, _)) = listener.accept().await else { return };
    drop(listener);
    let (mut from_driver, mut to_driver) = driver.into_split();
    let (mut from_server, mut to_server) = tokio::io::split(server);
    let asked = tokio::io::copy(&mut from_driver, &mut to_server);
    let answered = async {
        let mut piece = vec![0; PIECE];
        let mut read = Vec::new();
        while let Ok(length @ 1..) = from_server.read(&mut piece).await {
            if !meter.passes(length) {
                break;
            }
            let on = match &mut messages {
                None => &piece[..length],
                Some(messages) => {
                    read.clear();
                    if messages.read(&piece[..length], &mut read).is_err() {
                        meter.cut();
                        break;
                    }
                    &read[..]
                }
            };
            if to_driver.write_all(on).await.is_err() {
                break;
            }
        }
    };
    tokio::select! { _ = asked => {} () = answered => {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_row_may_be_as_long_as_the_budget_and_no_longer() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let (mut server, _) = listener.accept().await.unwrap();
            let mut word = [0; 2];
            server.read_exact(&mut word).await.unwrap();
            server.write_all(&vec![b'x'; MAX_ROW_BYTES]).await.unwrap();
            server.read_exact(&mut word).await.unwrap();
            let _ = server.write_all(&vec![b'x'; MAX_ROW_BYTES + 1]).await;
        });
        let wire = Wire::to(&Place::network("127.0.0.1", port), "s").await.unwrap();
        let mut driver = UnixStream::connect(wire.file()).await.unwrap();
        let mut heard = vec![0; MAX_ROW_BYTES];
        driver.write_all(b"go").await.unwrap();
        driver.read_exact(&mut heard).await.unwrap();
        assert!(!wire.meter().is_over());
        wire.meter().taken();
        driver.write_all(b"go").await.unwrap();
        let mut all = Vec::new();
        let _ = driver.read_to_end(&mut all).await;
        assert!(all.len() <= MAX_ROW_BYTES && wire.meter().is_over(), "{}", all.len());
    }
}
