//! Who drives a run (SPEC N1): a lease with an epoch. Whoever takes a run raises its epoch, and what is committed under
//! an older one is refused (a fencing token), so that a server that was thought dead can do no harm. A lease ends by
//! itself, or at once when its holder is a process of this machine that is gone.

use std::time::Duration;

use ba_protocol::RunId;
use jiff::Timestamp;

use crate::conversations::now;
use crate::db::{Row, params};
use crate::error::Result;
use crate::store::Store;
use crate::types::RunRecord;

/// How long a lease holds without being renewed.
pub const LEASE: Duration = Duration::from_secs(12);

/// A process that drives runs: `machine/pid/start time/number`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder(String);

impl Holder {
    /// A new one for this process; two agents of one process are two holders.
    pub fn this_process() -> Self {
        let pid = std::process::id();
        let started = start_time(pid).unwrap_or_default();
        Self(format!("{}/{pid}/{started}/{:08x}", machine(), rand::random::<u32>()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is known to be gone: a process of this machine that no longer runs.
    fn is_gone(name: &str) -> bool {
        let mut parts = name.split('/');
        let (Some(host), Some(pid), Some(started)) = (parts.next(), parts.next(), parts.next()) else {
            return false;
        };
        host == machine()
            && pid.parse().is_ok_and(|pid| start_time(pid).is_none_or(|now| now.to_string() != started))
    }
}

/// The name of this machine, or of the container that is one to us.
fn machine() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    // Process numbers mean something only within one boot.
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!("{}@{}", name.trim().replace('/', "_"), boot.trim().get(..8).unwrap_or(""))
}

/// When a process began, in ticks since boot; `None` when there is none.
fn start_time(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything; the fields after it are plain.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// An open run and who has it.
#[derive(Debug)]
struct OpenRun {
    id: RunId,
    holder: Option<String>,
    epoch: u64,
    until: u64,
}

impl Store {
    /// The lease of a new run or of one that is renewed.
    pub(crate) fn lease_until(at: Timestamp) -> u64 {
        u64::try_from(at.as_millisecond()).unwrap_or(0) + LEASE.as_millis() as u64
    }

    /// Keeps the runs that this holder really drives.
    pub async fn renew_leases(&self, holder: &Holder, runs: &[RunId]) -> Result<()> {
        let (holder, runs, until) = (holder.clone(), runs.to_vec(), Self::lease_until(now()));
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    for run in &runs {
                        s.execute(
                            "UPDATE runs SET lease_until = $3 WHERE id = $1 AND holder = $2 AND status = 'running'",
                            params![run, holder.as_str(), until],
                        )
                        .await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// Gives up every lease of a holder that ends, so that another takes its runs at once.
    pub async fn release_leases(&self, holder: &Holder) -> Result<()> {
        let holder = holder.clone();
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let released = "UPDATE runs SET lease_until = 0 WHERE holder = $1 AND status = 'running'";
                    s.execute(released, params![holder.as_str()]).await.map(|_| ())
                })
            })
            .await
    }

    /// Takes over the open runs that nobody drives, each with its newest state: those whose lease ran out, whose holder
    /// is gone, or that are this holder's own and not among `driven`.
    pub async fn adopt_runs(&self, holder: &Holder, driven: &[RunId]) -> Result<Vec<RunRecord>> {
        let open = self
            .db()
            .read(
                "SELECT id, holder, epoch, lease_until FROM runs WHERE status = 'running' ORDER BY created_at, id",
                vec![],
            )
            .await?;
        let at = u64::try_from(now().as_millisecond()).unwrap_or(0);
        let mut adopted = Vec::new();
        for run in open.iter().map(open_run).collect::<Result<Vec<_>>>()? {
            let free = match run.holder.as_deref() {
                Some(name) if name == holder.as_str() => !driven.contains(&run.id),
                Some(name) => run.until <= at || Holder::is_gone(name),
                None => true,
            };
            if free && self.claim(holder, &run).await? {
                adopted.extend(self.open_run(&run.id).await?);
            }
        }
        Ok(adopted)
    }

    /// False when someone else was quicker.
    async fn claim(&self, holder: &Holder, run: &OpenRun) -> Result<bool> {
        let (holder, id, epoch, seen) = (holder.clone(), run.id.clone(), run.epoch, run.until);
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let taken = s
                        .one(
                            "UPDATE runs SET holder = $2, epoch = epoch + 1, lease_until = $3
                             WHERE id = $1 AND status = 'running' AND epoch = $4 AND lease_until = $5 RETURNING id",
                            params![&id, holder.as_str(), Self::lease_until(now()), epoch, seen],
                        )
                        .await?;
                    Ok(taken.is_some())
                })
            })
            .await
    }

    /// Asks whoever drives the run to stop it. False when it has ended.
    pub async fn request_cancel(&self, run: &RunId) -> Result<bool> {
        let run = run.clone();
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let asked =
                        "UPDATE runs SET cancel_asked = 1 WHERE id = $1 AND status = 'running' RETURNING id";
                    Ok(s.one(asked, params![&run]).await?.is_some())
                })
            })
            .await
    }

    /// Runs of this holder that someone asked to stop.
    pub async fn cancel_requests(&self, holder: &Holder) -> Result<Vec<RunId>> {
        let rows = self
            .db()
            .read(
                "SELECT id FROM runs WHERE status = 'running' AND cancel_asked = 1 AND holder = $1",
                params![holder.as_str()],
            )
            .await?;
        rows.iter().map(|row| row.id(0)).collect()
    }
}

fn open_run(row: &Row) -> Result<OpenRun> {
    Ok(OpenRun {
        id: row.id(0)?,
        holder: row.optional_string(1)?,
        epoch: row.unsigned(2)?,
        until: row.unsigned(3)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_gone_only_when_its_process_is() {
        let own = Holder::this_process();
        assert!(!Holder::is_gone(own.as_str()));
        let parts: Vec<&str> = own.as_str().split('/').collect();
        let reused = format!("{}/{}/1/x", parts[0], parts[1]);
        assert!(Holder::is_gone(&reused), "another process has its number");
        assert!(Holder::is_gone(&format!("{}/4194999/5/x", parts[0])));
        assert!(
            !Holder::is_gone(&format!("elsewhere/{}/1/x", parts[1])),
            "another machine is not ours to judge"
        );
        assert!(!Holder::is_gone("odd"));
    }
}
