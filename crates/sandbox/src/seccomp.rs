//! The system calls a job may make, compiled to BPF. An allow-list: what is not named fails with EPERM.
//! Refuses sockets, exec, namespaces, mounts, tracing, keys, io_uring, shared memory and id changes by absence.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::SandboxError;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The programs to install, in order, 8 bytes per instruction.
pub(crate) fn programs() -> Result<Vec<Vec<u8>>, SandboxError> {
    Ok(vec![bytes(&missing_calls()?), bytes(&allow_list()?)])
}

fn bytes(program: &BpfProgram) -> Vec<u8> {
    let mut out = Vec::with_capacity(program.len() * 8);
    for instruction in program {
        out.extend_from_slice(&instruction.code.to_ne_bytes());
        out.push(instruction.jt);
        out.push(instruction.jf);
        out.extend_from_slice(&instruction.k.to_ne_bytes());
    }
    out
}

fn arch() -> Result<TargetArch, SandboxError> {
    std::env::consts::ARCH
        .try_into()
        .map_err(|_| SandboxError::Unconfined(format!("no seccomp policy for {}", std::env::consts::ARCH)))
}

fn compile(
    rules: Rules,
    otherwise: SeccompAction,
    matched: SeccompAction,
) -> Result<BpfProgram, SandboxError> {
    SeccompFilter::new(rules, otherwise, matched, arch()?)
        .and_then(TryInto::try_into)
        .map_err(|error| SandboxError::internal("seccomp policy", error))
}

/// Calls that must look absent, so that libraries fall back to an older one that the list can judge.
fn missing_calls() -> Result<BpfProgram, SandboxError> {
    let absent = [libc::SYS_clone3, libc::SYS_memfd_create, libc::SYS_openat2];
    let rules = absent.iter().map(|&call| (call, Vec::new())).collect();
    compile(rules, SeccompAction::Allow, SeccompAction::Errno(libc::ENOSYS as u32))
}

fn allow_list() -> Result<BpfProgram, SandboxError> {
    let mut rules: Rules = PLAIN.iter().chain(LEGACY).map(|&call| (call, Vec::new())).collect();
    // Judged by the other filter.
    for call in [libc::SYS_clone3, libc::SYS_memfd_create, libc::SYS_openat2] {
        rules.insert(call, Vec::new());
    }
    rules.insert(libc::SYS_clone, vec![rule(vec![masked(0, NAMESPACES, 0)?])?]);
    rules.insert(libc::SYS_ioctl, any_of(1, &[0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451])?);
    rules.insert(libc::SYS_prctl, any_of(0, &PRCTL)?);
    // Limits of other processes are none of a job's business.
    rules.insert(libc::SYS_prlimit64, any_of(0, &[0])?);
    for (call, argument) in [(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2)] {
        rules.insert(call, vec![rule(vec![masked(argument, SET_ID, 0)?])?]);
    }
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_chmod, vec![rule(vec![masked(1, SET_ID, 0)?])?]);
    compile(rules, SeccompAction::Errno(libc::EPERM as u32), SeccompAction::Allow)
}

fn masked(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition, SandboxError> {
    SeccompCondition::new(argument, Len::Qword, Op::MaskedEq(mask), value)
        .map_err(|error| SandboxError::internal("seccomp policy", error))
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, SandboxError> {
    SeccompRule::new(conditions).map_err(|error| SandboxError::internal("seccomp policy", error))
}

fn any_of(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, SandboxError> {
    values
        .iter()
        .map(|&value| {
            SeccompCondition::new(argument, Len::Dword, Op::Eq, value)
                .map_err(|error| SandboxError::internal("seccomp policy", error))
                .and_then(|condition| rule(vec![condition]))
        })
        .collect()
}

/// Every `CLONE_NEW*` flag, the 32-bit time namespace bit included.
const NAMESPACES: u64 = 0x7E02_0080;
const SET_ID: u64 = 0o6000;
/// PDEATHSIG, GET_DUMPABLE, SET_NAME, GET_NAME, SET_SECCOMP (only ever narrows), GET_NO_NEW_PRIVS, SET_VMA.
const PRCTL: [u64; 7] = [1, 3, 15, 16, 22, 39, 0x5356_4d41];

macro_rules! calls {
    ($($name:ident)*) => { &[$(libc::$name),*] };
}

const PLAIN: &[i64] = calls![
    SYS_read SYS_write SYS_readv SYS_writev SYS_pread64 SYS_pwrite64 SYS_preadv SYS_pwritev SYS_preadv2 SYS_pwritev2
    SYS_openat SYS_close SYS_close_range SYS_fstat SYS_newfstatat SYS_statx SYS_lseek SYS_getdents64
    SYS_mmap SYS_mprotect SYS_munmap SYS_brk SYS_mremap SYS_madvise SYS_mincore SYS_msync
    SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_rt_sigpending SYS_rt_sigtimedwait SYS_rt_sigsuspend SYS_sigaltstack
    SYS_pipe2 SYS_dup SYS_dup3 SYS_fcntl SYS_flock SYS_pselect6 SYS_ppoll
    SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_eventfd2
    SYS_nanosleep SYS_clock_nanosleep SYS_clock_gettime SYS_clock_getres SYS_gettimeofday SYS_times
    SYS_getitimer SYS_setitimer SYS_timer_create SYS_timer_settime SYS_timer_delete SYS_timer_gettime
    SYS_futex SYS_set_robust_list SYS_get_robust_list SYS_set_tid_address SYS_membarrier SYS_rseq
    SYS_sched_yield SYS_sched_getaffinity SYS_sched_getparam SYS_sched_getscheduler
    SYS_getpid SYS_getppid SYS_gettid SYS_getuid SYS_geteuid SYS_getgid SYS_getegid SYS_getgroups
    SYS_getresuid SYS_getresgid SYS_getpgid SYS_getsid SYS_setsid SYS_setpgid SYS_getcpu
    SYS_getrandom SYS_getrusage SYS_getpriority SYS_sysinfo SYS_uname SYS_umask SYS_capget
    SYS_getcwd SYS_chdir SYS_fchdir SYS_mkdirat SYS_unlinkat SYS_renameat SYS_renameat2 SYS_readlinkat
    SYS_faccessat SYS_faccessat2 SYS_statfs SYS_fstatfs SYS_ftruncate SYS_truncate SYS_fallocate SYS_fadvise64 SYS_readahead
    SYS_fsync SYS_fdatasync SYS_sync_file_range SYS_copy_file_range SYS_sendfile SYS_utimensat
    SYS_getxattr SYS_lgetxattr SYS_fgetxattr SYS_listxattr SYS_llistxattr SYS_flistxattr
    SYS_exit SYS_exit_group SYS_wait4 SYS_waitid SYS_kill SYS_tkill SYS_tgkill SYS_pidfd_open SYS_restart_syscall
    SYS_setrlimit SYS_getrlimit
    SYS_landlock_create_ruleset SYS_landlock_add_rule SYS_landlock_restrict_self
];

#[cfg(target_arch = "x86_64")]
const LEGACY: &[i64] = calls![
    SYS_open SYS_stat SYS_lstat SYS_access SYS_pipe SYS_dup2 SYS_select SYS_poll SYS_epoll_create SYS_epoll_wait
    SYS_time SYS_alarm SYS_pause SYS_fork SYS_vfork SYS_mkdir SYS_rmdir SYS_unlink SYS_rename SYS_readlink SYS_creat
    SYS_getpgrp SYS_arch_prctl SYS_getdents SYS_eventfd SYS_utimes SYS_utime
];
#[cfg(not(target_arch = "x86_64"))]
const LEGACY: &[i64] = calls![];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dangerous_calls_are_not_on_the_list() {
        let list: Vec<i64> = PLAIN.iter().chain(LEGACY).copied().collect();
        for call in [
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_execve,
            libc::SYS_execveat,
            libc::SYS_ptrace,
            libc::SYS_mount,
            libc::SYS_bpf,
            libc::SYS_keyctl,
            libc::SYS_userfaultfd,
            libc::SYS_io_uring_setup,
            libc::SYS_unshare,
            libc::SYS_setns,
            libc::SYS_linkat,
            libc::SYS_symlinkat,
            libc::SYS_mknodat,
            libc::SYS_process_vm_readv,
            libc::SYS_open_by_handle_at,
            libc::SYS_pidfd_getfd,
            libc::SYS_shmget,
            libc::SYS_setresuid,
        ] {
            assert!(!list.contains(&call), "system call {call} must not be allowed");
        }
    }

    #[test]
    fn programs_fit_the_kernel() {
        for program in programs().unwrap() {
            assert_eq!(program.len() % 8, 0);
            assert!(program.len() / 8 < 4096);
        }
    }
}
