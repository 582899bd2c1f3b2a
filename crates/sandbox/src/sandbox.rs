//! The public face: start, run, forget, shut down.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::child::Child;
use crate::monitor::Load;
use crate::pool::Pool;
use crate::queue::FairQueue;
use crate::readers::{Basis, Readers};
use crate::run::{self, Ending, Output, Plan};
use crate::session::{Sessions, SlotGuard};
use crate::{
    Input, Job, JobEvent, JobOutcome, Query, SandboxConfig, SandboxError, SessionKey, StateNote, Variable,
    Witness, Work, folder, monitor, selftest, worker_files,
};

/// A running sandbox; clones share it.
#[derive(Clone)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

struct Inner {
    config: SandboxConfig,
    pool: Arc<Pool>,
    queue: FairQueue,
    sessions: Arc<Sessions>,
    readers: Arc<Readers>,
    witnesses: Vec<Witness>,
    tasks: Vec<JoinHandle<()>>,
    closing: CancellationToken,
}

impl Sandbox {
    /// Starts the workers and sees every denial happen; fails when one does not.
    pub async fn start(mut config: SandboxConfig) -> Result<Self, SandboxError> {
        config.scratch = folder::absolute(&config.scratch)?;
        config.python.python = folder::absolute(&config.python.python)?;
        config.python.prefix = folder::absolute(&config.python.prefix)?;
        config.worker_dir = config.worker_dir.as_deref().map(folder::absolute).transpose()?;
        let sources = match &config.worker_dir {
            Some(folder) => folder.clone(),
            None => worker_files::unpack(&config.scratch)?,
        };
        let pool = Arc::new(Pool::start(config.clone(), sources).await?);
        let sessions = Arc::new(Sessions::remembering(&config.scratch));
        let readers = Arc::new(Readers::new(&config.scratch, config.max_states));
        let tasks = vec![
            tokio::spawn(pool.clone().keep_filled()),
            tokio::spawn(sweep_for_ever(sessions.clone(), readers.clone(), config.clone())),
        ];
        let queue = FairQueue::new(config.max_jobs);
        let mut inner = Inner {
            config,
            pool,
            queue,
            sessions,
            readers,
            witnesses: Vec::new(),
            tasks,
            closing: CancellationToken::new(),
        };
        inner.witnesses = selftest::witness(&inner.config, &inner.pool).await?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The denials seen at the start, each with what happened.
    pub fn self_test(&self) -> &[Witness] {
        &self.inner.witnesses
    }

    /// Why no worker can be started at present; nothing when all is well.
    pub fn trouble(&self) -> Option<String> {
        self.inner.pool.trouble()
    }

    /// Conversations with live state that is not in use at this moment.
    pub fn idle_states(&self) -> usize {
        self.inner.sessions.live_count()
    }

    /// Runs a job to its end. Dropping the future kills the job and keeps the session's earlier state.
    pub async fn run(
        &self,
        job: Job,
        on_event: &(dyn Fn(JobEvent) + Send + Sync),
    ) -> Result<JobOutcome, SandboxError> {
        tokio::select! {
            outcome = self.run_to_the_end(job, on_event) => outcome,
            () = self.inner.closing.cancelled() => Err(SandboxError::ShuttingDown),
        }
    }

    async fn run_to_the_end(
        &self,
        mut job: Job,
        on_event: &(dyn Fn(JobEvent) + Send + Sync),
    ) -> Result<JobOutcome, SandboxError> {
        let asked = Instant::now();
        prepare_inputs(&mut job.inputs)?;
        job.folder = folder::absolute(&job.folder)?;
        job.limits.memory = job.limits.memory.min(self.inner.config.memory_limit);
        let slot = match &job.session {
            Some(key) => Some(self.inner.sessions.lock(key).await),
            None => None,
        };
        let _place = self.inner.queue.acquire(&job.owner).await;
        let queued = asked.elapsed();
        let mut running = Running::take(&self.inner.pool, slot, &job).await?;
        let outcome = running.drive(&self.inner.pool, &job, on_event).await;
        let new_state = running.slot.is_some() && !running.forked;
        drop(running);
        if new_state {
            self.inner.sessions.keep_within(&self.inner.config);
        }
        let mut outcome = outcome?;
        outcome.usage.queued = queued;
        Ok(outcome)
    }

    /// Answers from a process that has these files at hand, or from a new one that then waits for the next query over them.
    /// Dropping the future kills it.
    pub async fn query(&self, query: Query) -> Result<JobOutcome, SandboxError> {
        tokio::select! {
            outcome = self.answer(query) => outcome,
            () = self.inner.closing.cancelled() => Err(SandboxError::ShuttingDown),
        }
    }

    async fn answer(&self, mut query: Query) -> Result<JobOutcome, SandboxError> {
        let asked = Instant::now();
        prepare_inputs(&mut query.inputs)?;
        let Inner { pool, readers, config, .. } = &*self.inner;
        let basis = Basis::of(&query)?;
        let _place = self.inner.queue.acquire(&query.owner).await;
        let queued = asked.elapsed();
        let mut reader = readers.take(basis)?;
        let mut job = Job {
            owner: query.owner,
            session: None,
            work: Work::Builtin { function: query.function, args: query.args },
            inputs: query.inputs,
            folder: reader.folder(),
            limits: query.limits,
        };
        job.limits.memory = job.limits.memory.min(config.memory_limit);
        let child = match reader.child.take() {
            Some(child) => child,
            None => pool.take().await?,
        };
        let mut running = Running::fresh(child, &job, config);
        let mut outcome = running.drive(pool, &job, &|_| {}).await?;
        if let Some((child, load)) = running.left.take() {
            readers.keep(reader, child, load);
        }
        outcome.usage.queued = queued;
        Ok(outcome)
    }

    /// Says what the next call of a conversation can read, by name, with a mark of its version. Where something is gone or
    /// has changed since the call before, the live state ends, and the next outcome says why. True when it ended by this.
    pub async fn rest_on(&self, session: &SessionKey, basis: BTreeMap<String, String>) -> bool {
        self.inner.sessions.lock(session).await.rest_on(basis)
    }

    /// The stamp of a conversation's live state; nothing when it has none.
    pub async fn standing(&self, session: &SessionKey) -> Option<u64> {
        self.inner.sessions.lock(session).await.standing()
    }

    /// Marks the live state of a conversation, to be known again.
    pub async fn stamp(&self, session: &SessionKey, stamp: u64) {
        self.inner.sessions.lock(session).await.stamp = stamp;
    }

    /// Ends the live state of a conversation; the next outcome says why.
    pub async fn lose(&self, session: &SessionKey, reason: &str) {
        self.inner.sessions.lock(session).await.lose(reason);
    }

    /// Names and shapes of what the next call of a conversation will find; nothing while a call runs.
    pub fn variables(&self, session: &SessionKey) -> Vec<Variable> {
        self.inner.sessions.variables(session, None)
    }

    /// The same, with what that call can read (as for `rest_on`): what was made of anything else, it will not find.
    pub fn variables_over(&self, session: &SessionKey, basis: &BTreeMap<String, String>) -> Vec<Variable> {
        self.inner.sessions.variables(session, Some(basis))
    }

    /// Drops the live state of a conversation, and whoever might hold a file of it.
    pub async fn forget(&self, session: &SessionKey) {
        self.inner.readers.clear();
        self.inner.sessions.forget(session).await;
    }

    /// Ends every process. Jobs that still run end with an error.
    pub async fn shutdown(self) {
        self.inner.closing.cancel();
        self.inner.pool.close();
        self.inner.sessions.clear();
        self.inner.readers.clear();
        self.inner.tasks.iter().for_each(JoinHandle::abort);
        self.inner.pool.settled().await;
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.pool.close();
        self.sessions.clear();
        self.readers.clear();
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// The mount broker has another working directory than the server.
fn prepare_inputs(inputs: &mut [Input]) -> Result<(), SandboxError> {
    folder::check_inputs(inputs)?;
    for input in inputs {
        input.path = folder::absolute(&input.path)?;
    }
    Ok(())
}

async fn sweep_for_ever(sessions: Arc<Sessions>, readers: Arc<Readers>, config: SandboxConfig) {
    let pause = (config.idle_state / 8).clamp(Duration::from_millis(50), Duration::from_secs(5));
    loop {
        tokio::time::sleep(pause).await;
        sessions.sweep(&config);
        readers.sweep();
    }
}

/// User of the jobs when the server is a root that can give work to another user: the folder must belong to it.
pub(crate) fn job_owner(config: &SandboxConfig) -> Option<u32> {
    let maps = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    (rustix::process::geteuid().is_root() && is_mapped(&maps, config.job_uid)).then_some(config.job_uid)
}

/// Whether a user id exists here: root of a rootless container has no other to switch to.
fn is_mapped(maps: &str, uid: u32) -> bool {
    maps.lines().any(|line| {
        let mut numbers = line.split_whitespace().filter_map(|n| n.parse::<u64>().ok());
        let (Some(first), _, Some(count)) = (numbers.next(), numbers.next(), numbers.next()) else {
            return false;
        };
        (first..first + count).contains(&u64::from(uid))
    })
}

/// A job in flight. Dropped half-way, it kills the fork and puts the earlier state back.
pub(crate) struct Running {
    child: Option<Child>,
    slot: Option<SlotGuard>,
    state: StateNote,
    /// The call runs in a fork of earlier state.
    forked: bool,
    limits: crate::Limits,
    owner: Option<u32>,
    /// The process of a call without a session, when it ended well.
    left: Option<(Child, Load)>,
}

impl Running {
    fn fresh(child: Child, job: &Job, config: &SandboxConfig) -> Self {
        let limits = job.limits.clone();
        Self {
            child: Some(child),
            slot: None,
            state: StateNote::Fresh,
            forked: false,
            limits,
            owner: job_owner(config),
            left: None,
        }
    }

    pub(crate) async fn take(
        pool: &Pool,
        mut slot: Option<SlotGuard>,
        job: &Job,
    ) -> Result<Self, SandboxError> {
        let live = slot.as_mut().and_then(|slot| slot.take_live(&job.folder));
        let forked = live.is_some();
        let lost = slot.as_mut().and_then(|slot| slot.tell_lost());
        let state = match lost {
            Some(reason) => StateNote::Reset { reason },
            None if forked => StateNote::Continued,
            None => StateNote::Fresh,
        };
        let child = match live {
            Some(child) => child,
            None => pool.take().await?,
        };
        let mut running = Self::fresh(child, job, pool.config());
        (running.slot, running.state, running.forked) = (slot, state, forked);
        Ok(running)
    }

    /// Runs the job. A fresh process that dies before the job began is replaced once: nothing of the job was done.
    pub(crate) async fn drive(
        &mut self,
        pool: &Pool,
        job: &Job,
        on_event: &(dyn Fn(JobEvent) + Send + Sync),
    ) -> Result<JobOutcome, SandboxError> {
        let gone = || SandboxError::Internal("the job has no process".into());
        let mut replaceable = !self.forked;
        loop {
            let child = self.child.as_mut().ok_or_else(gone)?;
            match run::begin(child, job, self.owner).await {
                Ok(plan) => {
                    let mut output = Output::new(on_event, plan.limits.output_bytes);
                    let ending = run::listen(child, &plan, &job.folder, &mut output).await?;
                    let began = output.began || !matches!(ending, Ending::Died { .. });
                    if began || !replaceable {
                        return Ok(self.finish(job, &plan, ending, output).await);
                    }
                }
                Err(SandboxError::Internal(_)) if replaceable => {}
                Err(error) => return Err(error),
            }
            tracing::warn!("a sandbox process died before its job began; the job gets another");
            replaceable = false;
            // The dead one first: it takes along what it left in the folder.
            drop(self.child.take());
            self.child = Some(pool.spawn().await?);
        }
    }

    async fn finish(&mut self, job: &Job, plan: &Plan, ending: Ending, output: Output<'_>) -> JobOutcome {
        let Some(mut child) = self.child.take() else { return JobOutcome::default() };
        let spent = run::spent(&child, plan);
        let succeeded = matches!(&ending, Ending::Result(report) if !report.failed());
        let mut alive = match &ending {
            _ if succeeded => true,
            _ if !self.forked => false,
            Ending::Died { restored } => *restored,
            Ending::Stopped(..) => run::restore(&mut child, true).await,
            Ending::Result(_) => run::restore(&mut child, false).await,
        };
        // From here on nothing of the job moves: what is looked at and copied now is what it left.
        if alive {
            monitor::freeze(&child.roots());
        }
        let child = if alive { Some(child) } else { child.end().await.and(None) };
        let variables = match &ending {
            Ending::Result(report) if succeeded => Some(report.variables.clone()),
            _ => None,
        };
        let mut outcome = run::conclude(plan, &job.folder, &spent, ending, output);
        // A success that left too much behind is none: its state goes with its files.
        alive &= !succeeded || outcome.error.is_none();
        let Some(slot) = &mut self.slot else {
            self.left = child.filter(|_| alive).map(|child| (child, spent.load));
            return outcome;
        };
        match child {
            Some(child) if alive => {
                slot.keep(child, &job.limits, spent.load);
                if let Some(variables) = variables {
                    slot.variables = variables;
                }
            }
            _ if self.forked => slot.gone("the process of the earlier calls did not survive"),
            _ => {}
        }
        slot.used = Instant::now();
        outcome.state = std::mem::take(&mut self.state);
        outcome
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let (Some(mut child), Some(mut slot)) = (self.child.take(), self.slot.take()) else { return };
        if let StateNote::Reset { reason } = &self.state {
            // Nobody was told.
            slot.lost = Some(reason.clone());
        }
        if !self.forked {
            return;
        }
        let limits = self.limits.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if run::restore(&mut child, true).await {
                    let load = monitor::measure(&child.roots(), child.zygote.resident);
                    monitor::freeze(&child.roots());
                    slot.keep(child, &limits, load);
                } else {
                    slot.gone("the process of the earlier calls did not survive");
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_mapped;

    #[test]
    fn only_a_root_with_other_users_switches() {
        assert!(is_mapped("         0          0 4294967295\n", 1_879_113_000));
        assert!(!is_mapped(
            "         0       1000          1\n         1     100000      65536\n",
            1_879_113_000
        ));
        assert!(!is_mapped("", 0));
    }
}
