//! Accepts connections until told to stop, then lets what is under way finish.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt;

use crate::config::{Access, ServerConfig};
use crate::paced_body::PacedBody;
use crate::places::Places;
use crate::router::router;
use crate::state::AppState;

/// Time a client has to send its request head.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Time connections have to end after the runs have.
const CLOSING_TIME: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("{0} is not a loopback address: turn sign-in on, or listen on 127.0.0.1")]
    OpenToEveryone(SocketAddr),
    #[error("{0} needs sign-in, but there is no user yet: run `ba-agent user add <name>` first")]
    NoUser(SocketAddr),
    #[error(transparent)]
    Store(#[from] ba_store::StoreError),
    #[error("the server stopped: {0}")]
    Io(#[from] std::io::Error),
}

/// Refuses to serve people who cannot be told apart (SPEC A10).
pub async fn check_access(
    address: SocketAddr,
    config: &ServerConfig,
    store: &ba_store::Store,
) -> Result<(), StartError> {
    match config.access {
        Access::LocalOnly if !address.ip().is_loopback() => Err(StartError::OpenToEveryone(address)),
        Access::LocalOnly => Ok(()),
        Access::SignIn if store.users().await?.iter().any(|user| !user.disabled) => Ok(()),
        Access::SignIn => Err(StartError::NoUser(address)),
    }
}

/// Serves until `shutdown` is done. Runs get the configured time to finish or are checkpointed.
pub async fn serve(
    listener: TcpListener,
    state: AppState,
    shutdown: impl Future<Output = ()>,
) -> Result<(), StartError> {
    let address = listener.local_addr()?;
    check_access(address, &state.config, &state.deps.store).await?;
    let worker = tokio::spawn(crate::jobs::work(state.clone()));
    let relay = tokio::spawn(crate::relay::work(state.clone()));
    let app = router(state.clone());
    let connections = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(state.config.limits.connections));
    let of_address = match state.config.access {
        // All of them are this machine's own.
        Access::LocalOnly => Places::new(usize::MAX),
        Access::SignIn => Places::new(state.config.limits.connections_per_address),
    };
    // While it drains it still answers: who follows a run goes on, and probes hear that it is not ready.
    let ended = drained(&state, shutdown);
    tokio::pin!(ended);
    loop {
        let place = tokio::select! {
            place = places.clone().acquire_owned() => place,
            () = &mut ended => break,
        };
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of descriptors, or a connection that died in the queue: neither ends the server.
                    tracing::warn!(%error, "could not accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut ended => break,
        };
        let Some(of_one) = of_address.take(peer.ip(), &state.config.trusted_proxies) else {
            tracing::debug!(%peer, "this address has too many connections; one more was closed");
            continue;
        };
        let span = state.config.limits.body_span;
        let client = connection(stream, peer, app.clone(), span, connections.watcher());
        tokio::spawn(async move {
            client.await;
            drop((place, of_one));
        });
    }
    drop(listener);
    if tokio::time::timeout(CLOSING_TIME, connections.shutdown()).await.is_err() {
        tracing::info!("some connections did not end in time");
    }
    let _ = tokio::join!(worker, relay);
    Ok(())
}

/// One client, request after request. HTTP/1.1 only: browsers speak HTTP/2 only over TLS, which ends at the proxy.
async fn connection(stream: TcpStream, peer: SocketAddr, app: Router, span: Duration, watcher: Watcher) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(|body| Body::new(PacedBody::new(body, span)));
        request.extensions_mut().insert(ConnectInfo(peer));
        app.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Done when the server was told to stop and its runs have ended or were handed over.
async fn drained(state: &AppState, shutdown: impl Future<Output = ()>) {
    shutdown.await;
    state.draining.cancel();
    state.deps.agent.shutdown(state.config.shutdown_grace).await;
    state.stopping.cancel();
}
