//! `ba-agent serve`: the page and the API until told to stop.

use std::process::ExitCode;
use std::sync::Arc;

use ba_config::Config;
use ba_protocol::ConversationId;
use ba_sandbox::SessionKey;
use ba_server::{Access, AppState, Check, Deps, EventBus, Keeper, ServerConfig, StartError};

use crate::output;
use crate::wire::{self, App};

pub async fn run(config: Config) -> anyhow::Result<ExitCode> {
    let server = server_config(&config)?;
    raise_file_limit();
    let listener = tokio::net::TcpListener::bind(config.listen).await.map_err(|error| {
        super::WrongUse(format!(
            "cannot listen on {}: {error}; is another server running there? Choose another with --listen",
            config.listen
        ))
    })?;
    let address = listener.local_addr()?;
    let models = wire::models::models(&config, None).await?;
    let bus = EventBus::new();
    let app = wire::app(&config, models, Arc::new(bus.clone())).await?;
    let _claim = app.store.claim_server()?;
    ba_server::check_access(address, &server, &app.store)
        .await
        .map_err(|error| super::WrongUse(refused(&config, &error)))?;
    let resumed = app.agent.resume_open_runs().await?;
    if resumed > 0 {
        output::note(&format!("{resumed} unfinished runs go on"));
    }
    let setup = wire::setup::FileSetup::new(&config, wire::tools::connections(&config)?);
    let state = AppState::new(server, Deps { setup: Some(Arc::new(setup)), ..deps(&config, &app, bus) });
    output::say(&ready_line(&config, address));
    ba_server::serve(listener, state, stop_signal()).await?;
    if let ba_tools::Python::Ready(sandbox) = app.python {
        sandbox.shutdown().await;
    }
    // Everything is done that writes: the write-ahead log goes into the database.
    app.store.close().await;
    Ok(ExitCode::SUCCESS)
}

fn refused(config: &Config, error: &StartError) -> String {
    match error {
        StartError::NoUser(address) => format!(
            "{address} needs sign-in, but there is no user yet: first run `{}`",
            super::next_command(config, "user add NAME")
        ),
        other => other.to_string(),
    }
}

/// Connections and files each take a handle; the usual soft limit of 1,024 is soon used up.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let now = getrlimit(Resource::Nofile);
    if now.current == now.maximum {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum }) {
        tracing::warn!(%error, "the limit of open files could not be raised");
    }
}

fn ready_line(config: &Config, address: std::net::SocketAddr) -> String {
    let host = if address.ip().is_unspecified() { "localhost".to_owned() } else { address.ip().to_string() };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    format!("BA-Agent is ready: http://{host}:{} (model: {})", address.port(), config.model.name())
}

fn server_config(config: &Config) -> anyhow::Result<ServerConfig> {
    let mut server = ServerConfig::default();
    // A proxy in front, or another name, means that others than this machine's users may come.
    let reachable = !config.server.hosts.is_empty() || !config.server.trusted_proxies.is_empty();
    if !config.listen.ip().is_loopback() || reachable {
        server.access = Access::SignIn;
    }
    server.allowed_hosts.clone_from(&config.server.hosts);
    for given in &config.server.trusted_proxies {
        let network = given.parse().map_err(|e| super::WrongUse(format!("server.trusted_proxies: {e}")))?;
        server.trusted_proxies.push(network);
    }
    server.openai_footnotes = config.openai_footnotes;
    server.limits.upload_bytes = config.limits.upload_mb * 1024 * 1024;
    server.retention_days = config.retention_days;
    server.share_days = config.server.share_days;
    Ok(server)
}

pub(super) fn deps(config: &Config, app: &App, bus: EventBus) -> Deps {
    Deps {
        store: app.store.clone(),
        agent: app.agent.clone(),
        bus,
        ingest: Some(wire::ingest(app)),
        reports: Some(Arc::new(wire::reports::ServedReports(wire::reports::reports(config, app)))),
        setup: None,
        checks: vec![Arc::new(PythonCheck(app.python.clone()))],
        skills: Some(app.skills.clone()),
        samples: wire::samples::samples(&config.data_dir),
        keepers: vec![Arc::new(PythonState(app.python.clone()))],
        log_dir: Some(wire::log_dir(config)),
    }
}

/// Python's variables of a conversation end with it.
struct PythonState(ba_tools::Python);

#[async_trait::async_trait]
impl Keeper for PythonState {
    async fn forget(&self, conversation: &ConversationId) {
        if let ba_tools::Python::Ready(sandbox) = &self.0 {
            sandbox.forget(&SessionKey::new(conversation.as_str())).await;
        }
    }
}

struct PythonCheck(ba_tools::Python);

#[async_trait::async_trait]
impl Check for PythonCheck {
    fn name(&self) -> &'static str {
        "sandbox"
    }

    async fn check(&self) -> Result<String, String> {
        match &self.0 {
            ba_tools::Python::Ready(sandbox) => match sandbox.trouble() {
                None => Ok("running".to_owned()),
                Some(why) => Err(format!("no worker can be started: {why}")),
            },
            ba_tools::Python::Refused(why) => Err(why.clone()),
        }
    }
}

/// Ctrl-C, or the service manager's TERM.
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut term) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = term.recv() => {}
    }
    output::note("stopping; runs get a moment to finish");
}
