//! `ba-agent serve`: the page and the API until told to stop.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use ba_config::Config;
use ba_server::{Access, AppState, Check, Deps, EventBus, ServerConfig};
use ba_store::{CleanupMode, CleanupPolicy, Store};

use crate::output;
use crate::wire::{self, App};

const CLEANUP_EVERY: Duration = Duration::from_secs(3600);

pub async fn run(config: Config) -> anyhow::Result<ExitCode> {
    let server = server_config(&config)?;
    let listener = tokio::net::TcpListener::bind(config.listen).await.with_context(|| {
        format!(
            "cannot listen on {}; is another server running there? Choose another with --listen",
            config.listen
        )
    })?;
    let address = listener.local_addr()?;
    let models = wire::models::models(&config, None).await?;
    let bus = EventBus::new();
    let app = wire::app(&config, models, Arc::new(bus.clone())).await?;
    let _claim = app.store.claim_server()?;
    ba_server::check_access(address, &server, &app.store)
        .await
        .map_err(|e| super::WrongUse(e.to_string()))?;
    let resumed = app.agent.resume_open_runs().await?;
    if resumed > 0 {
        output::note(&format!("{resumed} unfinished runs go on"));
    }
    let cleaner = tokio::spawn(clean_up(app.store.clone()));
    let state = AppState::new(server, deps(&config, &app, bus));
    output::say(&ready_line(&config, address));
    ba_server::serve(listener, state, stop_signal()).await?;
    cleaner.abort();
    if let ba_tools::Python::Ready(sandbox) = app.python {
        sandbox.shutdown().await;
    }
    Ok(ExitCode::SUCCESS)
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
    Ok(server)
}

fn deps(config: &Config, app: &App, bus: EventBus) -> Deps {
    Deps {
        store: app.store.clone(),
        agent: app.agent.clone(),
        bus,
        ingest: Some(wire::ingest(app)),
        reports: Some(Arc::new(wire::reports::ServedReports(wire::reports::reports(config, app)))),
        checks: vec![Arc::new(PythonCheck(app.python.clone()))],
        skills: Some(app.skills.clone()),
        samples: wire::samples::samples(&config.data_dir),
        log_dir: Some(wire::log_dir(config)),
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
            ba_tools::Python::Ready(_) => Ok("running".to_owned()),
            ba_tools::Python::Refused(why) => Err(why.clone()),
        }
    }
}

async fn clean_up(store: Store) {
    loop {
        tokio::time::sleep(CLEANUP_EVERY).await;
        match store.cleanup(&CleanupPolicy::default(), CleanupMode::Remove).await {
            Ok(report) if report.bytes > 0 => tracing::info!(bytes = report.bytes, "old tool data removed"),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "cleanup failed"),
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
