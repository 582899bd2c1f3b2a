//! Keeps what this process drives (SPEC N1–N3): renews the leases of its runs, hears who asked to stop one, and takes
//! over runs that nobody drives any more. One small task; ends with the agent.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ba_protocol::RunId;
use ba_protocol::api::ErrorInfo;
use ba_store::{LEASE, RunRecord, StoreError, Wake};
use tokio::time::MissedTickBehavior;

use crate::drive::{Ledger, Origin, RunJob};
use crate::error::AgentError;
use crate::parts::RunState;
use crate::service::{Agent, Inner};

/// How often it looks for requests to stop a run.
const TICK: Duration = Duration::from_secs(1);
/// Every so many ticks leases are renewed, and runs without a driver looked for: several chances within a lease.
const RENEWAL: u64 = LEASE.as_secs() / 5;

enum Reason {
    Tick,
    Woken(Wake),
}

impl Agent {
    /// Takes up the runs a crash or restart left open, each from its last step, now and from now on.
    pub async fn resume_open_runs(&self) -> Result<usize, AgentError> {
        self.inner.adopts.store(true, Ordering::Release);
        self.ensure_kept();
        Ok(self.adopt().await?)
    }

    /// Starts the keeper with the first run.
    pub(crate) fn ensure_kept(&self) {
        if self.inner.kept.swap(true, Ordering::AcqRel) {
            return;
        }
        // Weak: an agent that nobody holds any more is not kept alive by its keeper.
        let (weak, closing) = (std::sync::Arc::downgrade(&self.inner), self.inner.closing.clone());
        let mut woken = self.inner.parts.store.woken();
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(TICK);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let mut tick = 0u64;
            loop {
                let reason = tokio::select! {
                    () = closing.cancelled() => return,
                    _ = ticks.tick() => Reason::Tick,
                    Ok(wake) = woken.recv() => Reason::Woken(wake),
                };
                let Some(inner) = weak.upgrade() else { return };
                let agent = Agent { inner };
                let kept = match reason {
                    Reason::Tick => {
                        tick += 1;
                        agent.tick(tick).await
                    }
                    Reason::Woken(Wake::Cancel { run }) => {
                        agent.cancel_here(&run);
                        Ok(())
                    }
                    Reason::Woken(Wake::Work) if agent.inner.adopts.load(Ordering::Acquire) => {
                        agent.adopt().await.map(|_| ())
                    }
                    Reason::Woken(_) => Ok(()),
                };
                if let Err(error) = kept {
                    tracing::warn!(%error, "leases of runs could not be kept");
                }
            }
        });
    }

    async fn tick(&self, tick: u64) -> Result<(), StoreError> {
        let store = &self.inner.parts.store;
        let driven = self.inner.driven();
        if !driven.is_empty() {
            for run in store.cancel_requests(&self.inner.holder).await? {
                self.cancel_here(&run);
            }
        }
        if tick.is_multiple_of(RENEWAL) {
            if !driven.is_empty() {
                for run in store.renew_leases(&self.inner.holder, &driven).await? {
                    tracing::warn!(%run, "another server drives this run now");
                    if let Some(live) = self.inner.live.lock().get(&run) {
                        live.lost.cancel();
                    }
                }
            }
            if self.inner.adopts.load(Ordering::Acquire) {
                self.adopt().await?;
            }
        }
        Ok(())
    }

    /// Takes over what nobody drives.
    async fn adopt(&self) -> Result<usize, StoreError> {
        let mut watch = self.inner.watch.lock().await;
        if self.inner.closing.is_cancelled() {
            return Ok(0);
        }
        let (store, holder) = (&self.inner.parts.store, &self.inner.holder);
        let is_driven = |run: &RunId| self.inner.live.lock().contains_key(run);
        let adopted = store.adopt_runs(holder, &is_driven, &mut watch).await?;
        let count = adopted.len();
        for record in adopted {
            self.take_up(record).await;
        }
        Ok(count)
    }

    async fn take_up(&self, record: RunRecord) {
        match serde_json::from_value::<RunState>(record.state.clone()) {
            Ok(state) => {
                tracing::info!(run = %record.id, epoch = record.epoch, "a run that was left open is taken up");
                let ledger = Ledger::resume(&self.desk(), &record);
                self.spawn(RunJob { record, state, ledger, origin: Origin::Resumed });
            }
            Err(error) => {
                let text = format!("the run could not be resumed: {error}");
                self.abandon(&record, ErrorInfo::new("run_not_resumable", text)).await;
            }
        }
    }
}

impl Inner {
    fn driven(&self) -> Vec<RunId> {
        self.live.lock().keys().cloned().collect()
    }
}
