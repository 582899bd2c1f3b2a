//! Drives one job on one child: mounts, sends, listens, limits, and decides what happened.
//! The child's words are hostile: they can shape this job's own outcome and nothing else.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::unix::AsyncFd;

use crate::child::Child;
use crate::folder::{self, Excess, Snapshot};
use crate::monitor::{self, Load};
use crate::report::Report;
use crate::wire::Frame;
use crate::zygote::Mount;
use crate::{
    Job, JobErrorKind, JobEvent, JobOutcome, Limits, OutputChunk, SandboxError, Stream, Usage, Work,
};

/// How long the old state may take to say that it is back.
const RESTORE_LIMIT: Duration = Duration::from_secs(3);
/// Largest message of user code: the value it shows is capped well below.
const USER_FRAME: usize = 4 << 20;
/// Largest message of a built-in: its result may hold ten thousand rows.
const BUILTIN_FRAME: usize = 24 << 20;
const FIRST_LOOK: Duration = Duration::from_millis(40);
const NEXT_LOOK: Duration = Duration::from_millis(80);

/// How the job ended, as far as the supervisor saw.
#[expect(clippy::large_enum_variant, reason = "one for a whole job, and taken apart at once")]
pub(crate) enum Ending {
    /// The child sent a result.
    Result(Report),
    /// The supervisor put an end to it.
    Stopped(JobErrorKind, String),
    /// The process died without a word; `restored` when the earlier state said so itself.
    Died { restored: bool },
}

/// What a job used, as the host saw it.
pub(crate) struct Spent {
    pub(crate) load: Load,
    usage: Usage,
    out_of_memory: bool,
}

/// Everything about a job that was worked out before it started.
pub(crate) struct Plan {
    pub(crate) limits: Limits,
    pub(crate) input_names: Vec<String>,
    before: Snapshot,
    oom_before: u64,
    load_before: Load,
    free_before: u64,
    started: Instant,
    /// What an answer to this call must bear.
    ticket: String,
}

/// Mounts what is missing and tells the child to start.
pub(crate) async fn begin(child: &mut Child, job: &Job, owner: Option<u32>) -> Result<Plan, SandboxError> {
    folder::prepare(&job.folder, owner)?;
    let mounts = mounts(child, job, owner)?;
    let limits = match folder::walk(&job.folder, &job.limits) {
        Ok(_) => job.limits.clone(),
        Err(_) => folder::widened(&job.folder, &job.limits),
    };
    let before = folder::walk(&job.folder, &limits).map_err(|excess| SandboxError::Input {
        what: "the working folder".into(),
        detail: quota_text(&excess, &limits),
    })?;
    // The host's part is done while the broker mounts.
    let (mounted, load_before) = tokio::join!(mount_all(child, &mounts), async {
        child.limit_memory(limits.memory)?;
        Ok::<_, SandboxError>(monitor::measure(&child.roots(), child.zygote.resident))
    });
    mounted?;
    let plan = Plan {
        input_names: job.inputs.iter().flat_map(|input| input.names.clone()).collect(),
        before: folder::snapshot(&before),
        oom_before: child.cgroup().map_or(0, |group| group.oom_kills()),
        load_before: load_before?,
        free_before: monitor::disk(&job.folder).map_or(0, |(free, _)| free),
        started: Instant::now(),
        ticket: ticket(),
        limits,
    };
    child.wire.limit_frames(match job.work {
        Work::UserCode { .. } => USER_FRAME,
        Work::Builtin { .. } => BUILTIN_FRAME,
    });
    monitor::thaw(&child.roots());
    let message = json!({ "run": message(job, &plan) });
    child.wire.send(&message, &[]).await.map_err(|error| SandboxError::internal("sending a job", error))?;
    Ok(plan)
}

fn message(job: &Job, plan: &Plan) -> Value {
    let limits = &plan.limits;
    let mut message = json!({
        "ticket": plan.ticket,
        "limits": {"memory": limits.memory, "file_bytes": limits.folder_bytes.min(limits.left_bytes), "output_bytes": limits.output_bytes},
        "allow_list": limits.import_allow_list,
    });
    match &job.work {
        Work::UserCode { code } => message["code"] = json!(code),
        Work::Builtin { function, args } => {
            message["builtin"] = json!(function);
            message["args"] = args.clone();
        }
    }
    message
}

/// A word that no earlier call can know.
fn ticket() -> String {
    use std::hash::BuildHasher;
    let keys = std::hash::RandomState::new();
    format!("{:016x}{:016x}", keys.hash_one(0u8), keys.hash_one(1u8))
}

/// What the child does not see yet; the names it will be mounted on are made.
fn mounts(child: &mut Child, job: &Job, owner: Option<u32>) -> Result<Vec<Mount>, SandboxError> {
    let mut mounts = Vec::new();
    if child.folder.is_none() {
        mounts.push(Mount { path: job.folder.clone(), target: None, read_only: false });
    }
    // Where two inputs share a name the later one has it, in every call alike.
    let mut wanted = BTreeMap::new();
    for input in &job.inputs {
        folder::open_input(&input.path, owner)?;
        wanted.extend(input.names.iter().map(|name| (name, &input.path)));
    }
    let mut names = Vec::new();
    for (name, path) in wanted {
        if child.mounted.get(name) != Some(path) {
            child.mounted.insert(name.clone(), path.clone());
            names.push(name.clone());
            mounts.push(Mount { path: path.clone(), target: Some(name.clone()), read_only: true });
        }
    }
    let made = folder::add_placeholders(&job.folder, &names)?;
    child.remember_placeholders(&job.folder, made);
    Ok(mounts)
}

async fn mount_all(child: &Child, mounts: &[Mount]) -> Result<(), SandboxError> {
    if mounts.is_empty() {
        return Ok(());
    }
    child.zygote.attach(child.namespace(), mounts).await
}

/// Listens until the job ends by itself or by its limits.
pub(crate) async fn listen(
    child: &mut Child,
    plan: &Plan,
    folder: &Path,
    output: &mut Output<'_>,
) -> Result<Ending, SandboxError> {
    let exit = child.exit_watch();
    let deadline = tokio::time::sleep(plan.limits.wall);
    tokio::pin!(deadline);
    let mut look = tokio::time::interval_at(tokio::time::Instant::now() + FIRST_LOOK, NEXT_LOOK);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            // The order matters: a result that is already there wins over a limit.
            biased;
            frame = child.wire.next() => match frame {
                Ok(Some(frame)) => {
                    let size = child.wire.last_frame;
                    if let Some(ending) = output.take(frame, size, &plan.ticket) {
                        return Ok(ending);
                    }
                    if output.flooded() {
                        return Ok(Ending::Stopped(JobErrorKind::Quota, "far too much output was written".into()));
                    }
                    if plan.started.elapsed() > plan.limits.wall {
                        return Ok(timeout(&plan.limits));
                    }
                }
                Ok(None) => return Ok(Ending::Died { restored: false }),
                Err(error) => {
                    return Ok(Ending::Stopped(JobErrorKind::Killed, format!("the process broke the protocol: {error}")));
                }
            },
            () = gone(exit.as_deref()) => return Ok(Ending::Died { restored: false }),
            () = &mut deadline => return Ok(timeout(&plan.limits)),
            _ = look.tick() => {
                if let Some(ending) = check(child, plan, folder) {
                    return Ok(ending);
                }
            }
        }
    }
}

async fn gone(process: Option<&AsyncFd<OwnedFd>>) {
    match process {
        Some(pidfd) => drop(pidfd.readable().await),
        None => std::future::pending().await,
    }
}

fn timeout(limits: &Limits) -> Ending {
    Ending::Stopped(
        JobErrorKind::Timeout,
        format!("the time limit of {} s was reached", limits.wall.as_secs_f64()),
    )
}

fn check(child: &Child, plan: &Plan, folder: &Path) -> Option<Ending> {
    if let Err(excess) = folder::walk(folder, &plan.limits) {
        return Some(Ending::Stopped(JobErrorKind::Quota, quota_text(&excess, &plan.limits)));
    }
    if monitor::deleted_bytes(&child.roots(), folder) > plan.limits.folder_bytes {
        return Some(Ending::Stopped(JobErrorKind::Quota, quota_text(&Excess::Bytes, &plan.limits)));
    }
    // The last guard where deleted files cannot be seen: no job fills the disk.
    let (free, total) = monitor::disk(folder).unwrap_or((u64::MAX, 0));
    if free < (total / 50).max(512 << 20) && plan.free_before.saturating_sub(free) > plan.limits.folder_bytes
    {
        return Some(Ending::Stopped(JobErrorKind::Quota, "the disk is nearly full".into()));
    }
    if child.cgroup().is_none() {
        // What the conversation already held is shared by its forks and counts once.
        let held = plan.load_before.memory;
        let load = monitor::measure(&child.roots(), child.zygote.resident + held);
        if held + load.memory > plan.limits.memory + (256 << 20) {
            return Some(Ending::Stopped(JobErrorKind::OutOfMemory, memory_text(&plan.limits)));
        }
    }
    None
}

fn quota_text(excess: &Excess, limits: &Limits) -> String {
    match excess {
        Excess::Files => format!("the working folder may hold at most {} files", limits.files),
        Excess::Bytes => format!("the working folder may hold at most {} MiB", limits.folder_bytes >> 20),
        Excess::Depth => "folders are nested too deeply".into(),
        Excess::Left => format!("one call may leave at most {} MiB of files", limits.left_bytes >> 20),
    }
}

fn memory_text(limits: &Limits) -> String {
    format!("the memory limit of {} MiB was reached", limits.memory >> 20)
}

/// Ends only the running fork and waits for the earlier state to report back.
pub(crate) async fn restore(child: &mut Child, cancel: bool) -> bool {
    // Echoed, so that an earlier report is not taken for this one.
    let ticket = if cancel { child.next_ticket() } else { 0 };
    let back = async {
        if cancel {
            child.wire.send(&json!({ "cancel": ticket }), &[]).await.ok()?;
        }
        loop {
            if let Frame::Json(value) = child.wire.next().await.ok()??
                && value.get("restored").and_then(Value::as_u64) == Some(ticket)
            {
                return Some(());
            }
        }
    };
    matches!(tokio::time::timeout(RESTORE_LIMIT, back).await, Ok(Some(())))
}

pub(crate) fn spent(child: &Child, plan: &Plan) -> Spent {
    let load = monitor::measure(&child.roots(), child.zygote.resident);
    let peak = child.cgroup().and_then(|group| group.peak());
    Spent {
        load,
        usage: Usage {
            wall: plan.started.elapsed(),
            cpu: load.cpu.saturating_sub(plan.load_before.cpu),
            peak_memory: peak.unwrap_or(load.memory),
            queued: Duration::ZERO,
        },
        out_of_memory: child.cgroup().is_some_and(|group| group.oom_kills() > plan.oom_before),
    }
}

/// Turns the ending and the folder into the outcome.
pub(crate) fn conclude(
    plan: &Plan,
    folder: &Path,
    spent: &Spent,
    ending: Ending,
    output: Output<'_>,
) -> JobOutcome {
    let mut outcome = JobOutcome {
        truncated: output.truncated,
        output: output.chunks,
        usage: spent.usage,
        ..JobOutcome::default()
    };
    match ending {
        Ending::Result(report) => report.apply(&mut outcome),
        Ending::Stopped(kind, text) => outcome.error = Some(Report::stopped(kind, text)),
        Ending::Died { .. } if spent.out_of_memory => {
            outcome.error = Some(Report::stopped(JobErrorKind::OutOfMemory, memory_text(&plan.limits)));
        }
        Ending::Died { .. } => {
            outcome.error = Some(Report::stopped(JobErrorKind::Killed, "the Python process died".into()));
        }
    }
    let after = folder::walk(folder, &plan.limits).and_then(|after| {
        let much = folder::left_too_much(&plan.before, &after, &plan.input_names, &plan.limits);
        if much { Err(Excess::Left) } else { Ok(after) }
    });
    match after {
        Ok(after) => {
            (outcome.files, outcome.rejected) =
                folder::collect(folder, &plan.before, &after, &plan.input_names)
        }
        Err(excess) => {
            folder::remove_changes(folder, &plan.before, &plan.input_names);
            outcome.error = Some(Report::stopped(JobErrorKind::Quota, quota_text(&excess, &plan.limits)));
        }
    }
    outcome
}

/// Collects what the job prints, up to its cap, and passes it on.
pub(crate) struct Output<'a> {
    on_event: &'a (dyn Fn(JobEvent) + Send + Sync),
    chunks: Vec<OutputChunk>,
    truncated: bool,
    left: u64,
    received: u64,
    /// The child said that it starts with this job.
    pub(crate) began: bool,
    /// A character cut by a frame's end waits here for its rest.
    partial: Vec<u8>,
}

impl<'a> Output<'a> {
    pub(crate) fn new(on_event: &'a (dyn Fn(JobEvent) + Send + Sync), limit: u64) -> Self {
        Self {
            on_event,
            chunks: Vec::new(),
            truncated: false,
            left: limit,
            received: 0,
            began: false,
            partial: Vec::new(),
        }
    }

    fn flooded(&self) -> bool {
        // The shipped runner stops sending at the cap: more than this is not its doing.
        self.received > (256 << 20)
    }

    /// A result without the ticket of this call is no answer to it: what an earlier one left running sent it.
    fn take(&mut self, frame: Frame, size: usize, ticket: &str) -> Option<Ending> {
        match frame {
            Frame::Stdout(bytes) => self.text(Stream::Stdout, bytes),
            Frame::Stderr(bytes) => self.text(Stream::Stderr, bytes),
            Frame::Json(value) => {
                self.received += 1024 + size as u64;
                let answers = value.get("ticket").and_then(Value::as_str) == Some(ticket);
                if let Some(result) = value.get("result").filter(|_| answers) {
                    let report = Report::read(result);
                    self.truncated |= report.dropped > 0;
                    return Some(Ending::Result(report));
                }
                self.began |= value.get("began").and_then(Value::as_str) == Some(ticket);
                if value.get("restored").is_some() {
                    return Some(Ending::Died { restored: true });
                }
                if let Some(progress) = value.get("progress") {
                    (self.on_event)(progress_event(progress));
                }
            }
        }
        None
    }

    fn text(&mut self, stream: Stream, bytes: Vec<u8>) {
        self.received += bytes.len() as u64;
        let take = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        self.truncated |= take < bytes.len();
        self.left -= take as u64;
        if take == 0 {
            return;
        }
        let mut data = std::mem::take(&mut self.partial);
        data.extend_from_slice(&bytes[..take]);
        let end = complete_until(&data);
        self.partial = data.split_off(end);
        let text = String::from_utf8_lossy(&data).into_owned();
        let chunk = OutputChunk { stream, text };
        (self.on_event)(JobEvent::Output(chunk.clone()));
        match self.chunks.last_mut() {
            Some(last) if last.stream == stream => last.text.push_str(&chunk.text),
            _ => self.chunks.push(chunk),
        }
    }
}

/// Where the last complete UTF-8 character ends.
fn complete_until(data: &[u8]) -> usize {
    match std::str::from_utf8(data) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => data.len(),
    }
}

fn progress_event(value: &Value) -> JobEvent {
    let fraction =
        value.get("fraction").and_then(Value::as_f64).filter(|f| f.is_finite()).map(|f| f.clamp(0.0, 1.0));
    let message = value.get("message").and_then(Value::as_str).unwrap_or_default();
    JobEvent::Progress { fraction, message: message.chars().take(500).collect() }
}
