//! Sees each denial happen before anything untrusted may run. One that does not happen stops the start.

use std::time::Duration;

use serde_json::json;

use crate::pool::Pool;
use crate::sandbox::Running;
use crate::{Job, Limits, SandboxConfig, SandboxError, Witness, Work};

/// Fewer answers than this means that the probes themselves are broken.
const LEAST: usize = 15;

pub(crate) async fn witness(config: &SandboxConfig, pool: &Pool) -> Result<Vec<Witness>, SandboxError> {
    let failed = |error: std::io::Error| SandboxError::internal("self-test", error);
    let area = tempfile::Builder::new().prefix("selftest-").tempdir_in(&config.scratch).map_err(failed)?;
    let secret = area.path().join("secret");
    std::fs::write(&secret, "secret").map_err(failed)?;
    open_for_the_test(&secret).map_err(failed)?;
    let limits = Limits {
        wall: Duration::from_secs(30),
        memory: config.memory_limit.min(512 << 20),
        import_allow_list: false,
        ..Limits::default()
    };
    let args = json!({ "secret": secret, "memory": limits.memory });
    let job = Job {
        owner: "self-test".into(),
        session: None,
        work: Work::Builtin { function: "selftest.run".into(), args },
        inputs: Vec::new(),
        folder: area.path().join("job"),
        limits,
    };
    let outcome = Running::take(pool, None, &job).await?.drive(pool, &job, &|_| {}).await?;
    if let Some(error) = outcome.error {
        return Err(SandboxError::Unconfined(format!(
            "the self-test failed: {} {}",
            error.message, error.traceback
        )));
    }
    let mut witnesses: Vec<Witness> = serde_json::from_value(outcome.value.unwrap_or_default())
        .map_err(|error| SandboxError::internal("self-test", error))?;
    if witnesses.len() < LEAST {
        return Err(SandboxError::Unconfined("the self-test did not try everything".into()));
    }
    if let Some(open) = witnesses.iter().find(|witness| !witness.denied) {
        return Err(SandboxError::Unconfined(format!("{}: {}", open.name, open.detail)));
    }
    witnesses.push(Witness {
        name: "limits".into(),
        denied: true,
        detail: format!("by {}", pool.limits_by()),
    });
    Ok(witnesses)
}

/// Readable by everybody, so that only the confinement can be what denies it.
fn open_for_the_test(path: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))
}
