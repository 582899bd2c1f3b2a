//! Who drives a run (SPEC N1): a lease with an epoch. Whoever takes a run raises its epoch, and what is committed under
//! an older one is refused (a fencing token), so that a server that was thought dead can do no harm.
//!
//! A lease is a heartbeat: it has run out when a scanner saw it unchanged for `LEASE` by its own steady clock, so that
//! clocks that differ or jump take nothing from anybody. One that was given up, or whose holder is a process of this
//! machine that is gone, is free at once.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ba_protocol::RunId;

use crate::conversations::now;
use crate::db::{Row, params};
use crate::error::Result;
use crate::store::Store;
use crate::types::RunRecord;
use crate::wakes::Wake;

/// How long a lease holds without being renewed.
pub const LEASE: Duration = Duration::from_secs(10);
/// What a lease that was given up says.
const GIVEN_UP: u64 = 0;

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
    beat: u64,
}

/// What one scanner remembers of the leases of others between two looks.
#[derive(Debug, Default)]
pub struct LeaseWatch {
    seen: HashMap<RunId, Beat>,
}

#[derive(Debug)]
struct Beat {
    epoch: u64,
    beat: u64,
    since: Instant,
}

impl LeaseWatch {
    /// Whether the lease has not been renewed for its whole time; begins to watch it when it has been.
    fn ran_out(&mut self, run: &OpenRun, at: Instant) -> bool {
        match self.seen.get(&run.id) {
            Some(seen) if (seen.epoch, seen.beat) == (run.epoch, run.beat) => {
                at.saturating_duration_since(seen.since) >= LEASE
            }
            _ => {
                let beat = Beat { epoch: run.epoch, beat: run.beat, since: at };
                self.seen.insert(run.id.clone(), beat);
                false
            }
        }
    }

    /// Runs that have ended need no watching.
    fn keep_only(&mut self, open: &[OpenRun]) {
        self.seen.retain(|id, _| open.iter().any(|run| &run.id == id));
    }
}

impl Store {
    /// A beat of a lease: any number that differs from the one before and is not `GIVEN_UP`.
    pub(crate) fn beat() -> u64 {
        u64::try_from(now().as_millisecond()).unwrap_or(0).max(1)
    }

    /// Keeps the runs that this holder really drives. Gives those that are another's now.
    pub async fn renew_leases(&self, holder: &Holder, runs: &[RunId]) -> Result<Vec<RunId>> {
        let (holder, runs) = (holder.clone(), runs.to_vec());
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let mut lost = Vec::new();
                    for run in runs {
                        // Not the clock alone: it may stand still or go back.
                        let renewed = s
                            .execute(
                                "UPDATE runs SET lease_until =
                                    CASE WHEN lease_until >= $3 THEN lease_until + 1 ELSE $3 END
                                 WHERE id = $1 AND holder = $2 AND status = 'running'",
                                params![&run, holder.as_str(), Self::beat()],
                            )
                            .await?;
                        let anothers = "SELECT 1 FROM runs WHERE id = $1 AND status = 'running'
                                        AND (holder IS NULL OR holder <> $2)";
                        if renewed == 0 && s.one(anothers, params![&run, holder.as_str()]).await?.is_some() {
                            lost.push(run);
                        }
                    }
                    Ok(lost)
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
                    let released = "UPDATE runs SET lease_until = 0, holder = NULL WHERE holder = $1 AND status = 'running'";
                    s.execute(released, params![holder.as_str()]).await.map(|_| ())
                })
            })
            .await?;
        self.wake(Wake::Work);
        Ok(())
    }

    /// Takes over the open runs that nobody drives, each read anew after it was taken: those whose lease ran out, whose
    /// holder is gone, or that are this holder's own and not driven. That is asked after the table was read: a run is
    /// driven before it is stored.
    pub async fn adopt_runs(
        &self,
        holder: &Holder,
        is_driven: &(dyn Fn(&RunId) -> bool + Sync),
        watch: &mut LeaseWatch,
    ) -> Result<Vec<RunRecord>> {
        let open = self
            .db()
            .read(
                "SELECT id, holder, epoch, lease_until FROM runs WHERE status = 'running' ORDER BY created_at, id",
                vec![],
            )
            .await?;
        let open = open.iter().map(open_run).collect::<Result<Vec<_>>>()?;
        watch.keep_only(&open);
        let at = Instant::now();
        let mut adopted = Vec::new();
        for run in open {
            let free = match run.holder.as_deref() {
                Some(name) if name == holder.as_str() => !is_driven(&run.id),
                Some(name) => run.beat == GIVEN_UP || Holder::is_gone(name) || watch.ran_out(&run, at),
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
        let (holder, id, epoch, seen) = (holder.clone(), run.id.clone(), run.epoch, run.beat);
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let taken = s
                        .one(
                            "UPDATE runs SET holder = $2, epoch = epoch + 1, lease_until = $3
                             WHERE id = $1 AND status = 'running' AND epoch = $4 AND lease_until = $5 RETURNING id",
                            params![&id, holder.as_str(), Self::beat(), epoch, seen],
                        )
                        .await?;
                    Ok(taken.is_some())
                })
            })
            .await
    }

    /// Asks whoever drives the run to stop it. False when it has ended.
    pub async fn request_cancel(&self, run: &RunId) -> Result<bool> {
        let wanted = run.clone();
        let open = self
            .db()
            .write(move |s| {
                Box::pin(async move {
                    let asked =
                        "UPDATE runs SET cancel_asked = 1 WHERE id = $1 AND status = 'running' RETURNING id";
                    Ok(s.one(asked, params![&wanted]).await?.is_some())
                })
            })
            .await?;
        self.wake(Wake::Cancel { run: run.clone() });
        Ok(open)
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
        beat: row.unsigned(3)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_runs_out_only_when_it_stood_still_by_the_scanners_own_clock() {
        let run = |beat| OpenRun {
            id: RunId::parse("run_00112233445566aa").unwrap(),
            holder: None,
            epoch: 1,
            beat,
        };
        let (mut watch, start) = (LeaseWatch::default(), Instant::now());
        // A beat of years ago, as a server with a wrong clock writes it, is as good as any other.
        assert!(!watch.ran_out(&run(5), start), "seen for the first time");
        assert!(!watch.ran_out(&run(5), start + LEASE / 2));
        assert!(!watch.ran_out(&run(6), start + LEASE), "renewed");
        assert!(!watch.ran_out(&run(6), start + LEASE + LEASE / 2));
        assert!(watch.ran_out(&run(6), start + LEASE * 2));
        watch.keep_only(&[]);
        assert!(watch.seen.is_empty());
    }

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
