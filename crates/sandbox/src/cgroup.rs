//! Memory and process limits by control group, v1 or v2, when the server may create them (usually as root).
//! Where it may not, rlimits and the monitor remain; nothing here pretends otherwise.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the groups of jobs are made.
#[derive(Debug)]
pub(crate) struct Cgroups {
    layout: Layout,
    counter: AtomicU64,
    prefix: String,
}

#[derive(Debug, Clone)]
enum Layout {
    V1 { memory: PathBuf, pids: Option<PathBuf> },
    V2 { base: PathBuf },
}

/// The group of one job; removed when dropped after its processes are gone.
#[derive(Debug)]
pub(crate) struct JobCgroup {
    memory: PathBuf,
    others: Vec<PathBuf>,
    v2: bool,
}

impl Cgroups {
    /// Finds a usable layout from the text of `/proc/self/cgroup`; `None` when no group can be made.
    pub(crate) fn detect() -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let layout = Layout::from_membership(&own, Path::new("/sys/fs/cgroup"))?;
        layout.sweep();
        let prefix = format!("ba-sandbox-{}-{:x}", std::process::id(), u64::from(rand_word()));
        let groups = Self { layout, counter: AtomicU64::new(0), prefix };
        // A trial group shows whether this process may make them at all.
        let trial = groups.create(16).ok()?;
        trial.set_memory(64 << 20).ok()?;
        trial.remove().ok()?;
        Some(groups)
    }

    pub(crate) fn describe(&self) -> &'static str {
        match self.layout {
            Layout::V1 { .. } => "cgroup v1",
            Layout::V2 { .. } => "cgroup v2",
        }
    }

    pub(crate) fn create(&self, tasks: u64) -> io::Result<JobCgroup> {
        let name = format!("{}-{}", self.prefix, self.counter.fetch_add(1, Ordering::Relaxed));
        match &self.layout {
            Layout::V1 { memory, pids } => {
                let memory = memory.join(&name);
                fs::create_dir(&memory)?;
                let mut group = JobCgroup { memory, others: Vec::new(), v2: false };
                if let Some(pids) = pids {
                    let pids = pids.join(&name);
                    if fs::create_dir(&pids).is_ok() {
                        fs::write(pids.join("pids.max"), tasks.to_string())?;
                        group.others.push(pids);
                    }
                }
                Ok(group)
            }
            Layout::V2 { base } => {
                let memory = base.join(&name);
                fs::create_dir(&memory)?;
                // Absent controllers show as absent files: then this layout is not usable.
                fs::write(memory.join("pids.max"), tasks.to_string())?;
                let _ = fs::write(memory.join("memory.swap.max"), "0");
                let _ = fs::write(memory.join("memory.oom.group"), "0");
                Ok(JobCgroup { memory, others: Vec::new(), v2: true })
            }
        }
    }
}

fn rand_word() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish() as u32
}

impl Layout {
    fn from_membership(text: &str, mount: &Path) -> Option<Self> {
        let place = |controller: &str| {
            text.lines().find_map(|line| {
                let mut parts = line.splitn(3, ':').skip(1);
                let (controllers, path) = (parts.next()?, parts.next()?);
                controllers
                    .split(',')
                    .any(|c| c == controller)
                    .then(|| path.trim_start_matches('/').to_owned())
            })
        };
        if let Some(path) = place("memory") {
            let memory = mount.join("memory").join(path);
            let pids = place("pids").map(|path| mount.join("pids").join(path)).filter(|p| p.is_dir());
            return memory.is_dir().then_some(Self::V1 { memory, pids });
        }
        let base = mount.join(place("")?);
        let controllers = fs::read_to_string(base.join("cgroup.controllers")).ok()?;
        if !controllers.split_whitespace().any(|c| c == "memory") {
            return None;
        }
        // Refused when this very group holds processes: run the service with delegation, or as a sub-group.
        let _ = fs::write(base.join("cgroup.subtree_control"), "+memory +pids");
        let enabled = fs::read_to_string(base.join("cgroup.subtree_control")).ok()?;
        enabled.split_whitespace().any(|c| c == "memory").then_some(Self::V2 { base })
    }
}

impl Layout {
    /// Removes the empty groups of servers that were killed.
    fn sweep(&self) {
        let folders = match self {
            Self::V1 { memory, pids } => vec![Some(memory), pids.as_ref()],
            Self::V2 { base } => vec![Some(base)],
        };
        for folder in folders.into_iter().flatten() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let owner = name.strip_prefix("ba-sandbox-").and_then(|rest| rest.split('-').next());
                if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
                    let _ = fs::remove_dir(entry.path());
                }
            }
        }
    }
}

impl JobCgroup {
    pub(crate) fn add(&self, pid: u32) -> io::Result<()> {
        for folder in std::iter::once(&self.memory).chain(&self.others) {
            fs::write(folder.join("cgroup.procs"), pid.to_string())?;
        }
        Ok(())
    }

    pub(crate) fn set_memory(&self, bytes: u64) -> io::Result<()> {
        if self.v2 {
            return fs::write(self.memory.join("memory.max"), bytes.to_string());
        }
        fs::write(self.memory.join("memory.limit_in_bytes"), bytes.to_string())?;
        // Only there when swap is accounted; never below the plain limit, hence after it.
        let _ = fs::write(self.memory.join("memory.memsw.limit_in_bytes"), bytes.to_string());
        Ok(())
    }

    /// Starts a new measurement of the peak.
    pub(crate) fn reset_peak(&self) {
        let name = if self.v2 { "memory.peak" } else { "memory.max_usage_in_bytes" };
        let _ = fs::write(self.memory.join(name), "0");
    }

    pub(crate) fn peak(&self) -> Option<u64> {
        let name = if self.v2 { "memory.peak" } else { "memory.max_usage_in_bytes" };
        fs::read_to_string(self.memory.join(name)).ok()?.trim().parse().ok()
    }

    /// How often the kernel killed a process of this group for memory.
    pub(crate) fn oom_kills(&self) -> u64 {
        let name = if self.v2 { "memory.events" } else { "memory.oom_control" };
        let text = fs::read_to_string(self.memory.join(name)).unwrap_or_default();
        text.lines()
            .find_map(|line| line.strip_prefix("oom_kill ").and_then(|count| count.trim().parse().ok()))
            .unwrap_or(0)
    }

    /// Fails with EBUSY while a process of the group still exists.
    pub(crate) fn remove(&self) -> io::Result<()> {
        for folder in std::iter::once(&self.memory).chain(&self.others) {
            match fs::remove_dir(folder) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v1_membership_names_both_controllers() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("memory/a/b")).unwrap();
        fs::create_dir_all(dir.path().join("pids")).unwrap();
        let layout = Layout::from_membership("8:pids:/\n4:memory:/a/b\n0::/\n", dir.path()).unwrap();
        let Layout::V1 { memory, pids } = layout else { panic!("v1 expected") };
        assert_eq!(memory, dir.path().join("memory/a/b"));
        assert_eq!(pids, Some(dir.path().join("pids/")));
    }

    #[test]
    fn v2_needs_the_memory_controller() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("x");
        fs::create_dir_all(&base).unwrap();
        fs::write(base.join("cgroup.controllers"), "cpu io").unwrap();
        assert!(Layout::from_membership("0::/x\n", dir.path()).is_none());
        fs::write(base.join("cgroup.controllers"), "cpu memory pids").unwrap();
        let layout = Layout::from_membership("0::/x\n", dir.path());
        // The plain file keeps what was written, as the kernel's would after enabling.
        assert!(layout.is_none() || matches!(layout, Some(Layout::V2 { .. })));
    }

    #[test]
    fn groups_of_dead_servers_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let (dead, own) =
            (dir.path().join("ba-sandbox-999999999-a-0"), format!("ba-sandbox-{}-a-0", std::process::id()));
        fs::create_dir(&dead).unwrap();
        fs::create_dir(dir.path().join(&own)).unwrap();
        fs::create_dir(dir.path().join("other")).unwrap();
        Layout::V2 { base: dir.path().to_owned() }.sweep();
        assert!(!dead.exists() && dir.path().join(own).exists() && dir.path().join("other").exists());
    }

    #[test]
    fn v2_group_files() {
        let dir = tempfile::tempdir().unwrap();
        let groups = Cgroups {
            layout: Layout::V2 { base: dir.path().to_owned() },
            counter: AtomicU64::new(0),
            prefix: "t".into(),
        };
        let group = groups.create(7).unwrap();
        group.set_memory(1234).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("t-0/memory.max")).unwrap(), "1234");
        assert_eq!(fs::read_to_string(dir.path().join("t-0/pids.max")).unwrap(), "7");
        fs::write(dir.path().join("t-0/memory.events"), "low 0\noom 1\noom_kill 3\n").unwrap();
        assert_eq!(group.oom_kills(), 3);
    }
}
