//! The wire between the driver and a server, with a meter on it. A driver holds a whole row, a whole error message, before
//! anybody can look at it; so the bytes are counted on their way, and past the budget the wire is cut. Knows no protocol and
//! sees no plain text where the connection is encrypted.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::task::JoinHandle;

use super::rows::MAX_ROW_BYTES;

/// Bytes read at once.
const PIECE: usize = 128 << 10;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Network { host: String, port: u16 },
    File(PathBuf),
}

impl Place {
    pub(super) fn network(host: &str, port: u16) -> Self {
        Self::Network { host: host.trim_matches(['[', ']']).to_owned(), port }
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
        let relay = match place {
            Place::Network { host, port } => {
                let server = TcpStream::connect((host.as_str(), *port)).await?;
                server.set_nodelay(true)?;
                tokio::spawn(relay(UnixListener::bind(&file)?, server, meter.clone()))
            }
            Place::File(path) => {
                let server = UnixStream::connect(path).await?;
                tokio::spawn(relay(UnixListener::bind(&file)?, server, meter.clone()))
            }
        };
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
            self.over.store(true, Ordering::Relaxed);
        }
        within
    }
}

async fn relay(listener: UnixListener, server: impl AsyncRead + AsyncWrite, meter: Arc<Meter>) {
    let Ok((driver, _)) = listener.accept().await else { return };
    drop(listener);
    let (mut from_driver, mut to_driver) = driver.into_split();
    let (mut from_server, mut to_server) = tokio::io::split(server);
    let asked = tokio::io::copy(&mut from_driver, &mut to_server);
    let answered = async {
        let mut piece = vec![0; PIECE];
        while let Ok(length @ 1..) = from_server.read(&mut piece).await {
            if !meter.passes(length) || to_driver.write_all(&piece[..length]).await.is_err() {
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
