//! Jobs that take too much: time, memory, processes, output, disk. Each ends alone, with the right name.

use std::time::Duration;

use ba_sandbox::{JobErrorKind, JobOutcome, Sandbox};
use ba_testkit::{Edge, budget};

use crate::support::{Desk, block, config, repr, stdout};

fn kind(outcome: &JobOutcome) -> JobErrorKind {
    outcome.error.as_ref().expect("the job should have failed").kind
}

fn brief(seconds: u64) -> Desk {
    let mut desk = Desk::new().open();
    desk.limits.wall = Duration::from_secs(seconds);
    desk
}

#[test]
fn loops_that_ignore_every_signal_end_on_time() {
    let desk = brief(1);
    let endless = [
        "while True: pass",
        "import signal\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True: pass",
        // Inside C code, with the interpreter lock held.
        "import re\nre.match('(a*)*b', 'a' * 100)",
        "x = 9 ** 9 ** 9",
        "sum(range(10 ** 13))",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "import time\ntime.sleep(1000)",
    ];
    for code in endless {
        let outcome = desk.py(code);
        assert_eq!(kind(&outcome), JobErrorKind::Timeout, "{code}");
    }
    assert_eq!(repr(&desk.py("1")), "1");
}

#[test]
fn daemonised_grandchildren_die_with_the_job() {
    let desk = brief(2);
    let code = "
import os, time, signal
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                open('alive', 'a').write('x'); time.sleep(0.01)
        os._exit(0)
time.sleep(60)";
    assert_eq!(kind(&desk.py(code)), JobErrorKind::Timeout);
    let size = || std::fs::metadata(desk.folder().join("alive")).map_or(0, |m| m.len());
    let then = size();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(size(), then, "a grandchild is still writing");
}

#[test]
fn a_success_leaves_nobody_working_in_the_background() {
    let desk = Desk::new().open().session("background");
    let fork = "
import os, time
if os.fork() == 0:
    while True:
        open('alive', 'a').write('x'); time.sleep(0.01)
time.sleep(0.1)";
    stdout(&desk.py(fork));
    stdout(&desk.py(fork));
    let size = || std::fs::metadata(desk.folder().join("alive")).map_or(0, |m| m.len());
    let then = size();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(size(), then);
}

#[test]
fn a_fork_bomb_is_bounded_and_others_do_not_notice() {
    let desk = brief(3);
    let code = "
import os
count = 0
while True:
    try:
        if os.fork() == 0:
            while True: pass
        count += 1
    except (BlockingIOError, OSError):
        break
print(count)";
    block(async {
        let bomb = desk.run(code);
        let other = Desk::new();
        let neighbour = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            other.run("1 + 1").await
        };
        let (bomb, neighbour) = tokio::join!(bomb, neighbour);
        let count: u64 = crate::support::text(&bomb, ba_sandbox::Stream::Stdout).trim().parse().unwrap_or(0);
        assert!(count < 130, "{count} forks");
        assert_eq!(repr(&neighbour), "2");
    });
}

#[test]
fn huge_allocations_fail_cleanly() {
    let desk = Desk::new().open();
    for code in ["import numpy\nnumpy.ones(100 * 2**30 // 8)", "bytearray(100 * 2**30)", "x = [0] * 10**11"] {
        let outcome = desk.py(code);
        assert_eq!(kind(&outcome), JobErrorKind::OutOfMemory, "{code}");
    }
}

#[test]
fn memory_spread_over_forks_is_bounded_too() {
    let mut desk = brief(20);
    desk.limits.memory = 300 << 20;
    let code = "
import os, time
for _ in range(8):
    if os.fork() == 0:
        block = bytearray(200 << 20)
        for i in range(0, len(block), 4096): block[i] = 1
        time.sleep(60)
time.sleep(60)";
    let outcome = desk.py(code);
    // Either the children died one by one (control group) until time was up, or the monitor ended it all.
    assert!(matches!(kind(&outcome), JobErrorKind::OutOfMemory | JobErrorKind::Timeout), "{outcome:?}");
    assert!(outcome.usage.peak_memory < 1200 << 20, "{}", outcome.usage.peak_memory);
}

#[test]
fn endless_output_is_cut_and_said_so() {
    let mut desk = brief(20);
    desk.limits.output_bytes = 10_000;
    let outcome = desk.py("for i in range(200_000): print('x' * 100)");
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert!(outcome.truncated);
    assert_eq!(stdout(&outcome).len(), 10_000);
    // The same by writing frames past the runner: the supervisor counts for itself.
    let forged = "
import os, struct
frame = struct.pack('<cI', b'O', 60000) + b'y' * 60000
fds = [fd for fd in range(3, 20)]
while True:
    for fd in fds:
        try: os.write(fd, frame)
        except OSError: fds = [f for f in fds if f != fd]";
    let outcome = desk.py(forged);
    assert!(outcome.error.is_some());
    assert!(outcome.output.iter().map(|c| c.text.len()).sum::<usize>() <= 10_000);
}

/// What a job sends is cut before it is held, and weighed by what it takes when read.
#[test]
fn a_message_of_a_job_has_a_byte_budget() {
    let edge = Edge { name: "sandbox: message of user code", budget_mb: 4, sent_mb: 240, most_mb: 100 };
    let desk = || {
        let desk = Desk::new().open();
        assert_eq!(repr(&desk.py("1")), "1");
        desk
    };
    budget("limits::a_message_of_a_job_has_a_byte_budget", &edge, desk, |desk| {
        for body in ["b'\"' + b'x' * (60 << 20) + b'\"'", "b'[' + b'[],' * (20 << 20) + b'0]'"] {
            let code = format!(
                "import os, struct\nbody = {body}\nfor fd in range(3, 20):\n    try: os.write(fd, struct.pack('<cI', b'J', len(body)) + body)\n    except OSError: pass\nimport time\ntime.sleep(5)"
            );
            assert_eq!(kind(&desk.py(&code)), JobErrorKind::Killed, "{body}");
        }
        let printed = desk.py("for i in range(120): print('x' * (1 << 20))");
        assert!(printed.truncated && stdout(&printed).len() <= 1 << 20);
    });
}

#[test]
fn the_disk_cannot_be_filled() {
    let mut desk = brief(30);
    desk.limits.folder_bytes = 20 << 20;
    let one = desk.py("f = open('big', 'wb')\nwhile True: f.write(b'x' * 2**20)");
    assert_eq!(kind(&one), JobErrorKind::Quota);
    let many = desk.py("i = 0\nwhile True:\n    i += 1\n    open(f'f{i}', 'wb').write(b'x' * 2**20)");
    assert_eq!(kind(&many), JobErrorKind::Quota);
    let sparse = desk.py("open('sparse', 'wb').truncate(2**40)");
    assert_eq!(kind(&sparse), JobErrorKind::Quota);
    assert_eq!(repr(&desk.py("1")), "1", "the folder is usable again");
}

#[test]
fn holes_count_and_a_call_may_leave_only_so_much() {
    let mut desk = brief(30);
    let sparse = desk.py("for i in range(6): open(f's{i}.bin', 'wb').truncate(500 << 20)");
    assert_eq!(kind(&sparse), JobErrorKind::Quota);
    desk.limits.left_bytes = 3 << 20;
    let left = desk.py("for i in range(5): open(f'f{i}.bin', 'wb').write(b'x' * 2**20)");
    assert_eq!(kind(&left), JobErrorKind::Quota);
    assert!(left.error.unwrap().message.contains("one call may leave at most 3 MiB"));
    assert_eq!(std::fs::read_dir(desk.folder()).unwrap().count(), 0);
    assert_eq!(desk.py("open('small.bin', 'wb').write(b'x' * 2**20)").files.len(), 1);
}

#[test]
fn an_over_full_folder_can_be_used_and_cleaned_but_not_grow() {
    let mut desk = brief(30);
    stdout(&desk.py("open('big.bin', 'wb').write(b'x' * (8 << 20))"));
    desk.limits.folder_bytes = 4 << 20;
    assert_eq!(repr(&desk.py("1 + 1")), "2");
    assert_eq!(kind(&desk.py("open('more.bin', 'wb').write(b'x' * 2**20)")), JobErrorKind::Quota);
    assert!(desk.folder().join("big.bin").is_file() && !desk.folder().join("more.bin").exists());
    stdout(&desk.py("import os\nos.remove('big.bin')"));
    assert_eq!(desk.py("open('more.bin', 'wb').write(b'x' * 2**20)").files.len(), 1);
}

/// SPEC H2.
#[test]
fn nothing_of_a_job_runs_between_two_calls() {
    let desk = Desk::new().open().session("still");
    let code = "
import threading, time
def grow():
    with open('grow.bin', 'ab', buffering=0) as f:
        while True:
            f.write(b'x' * 65536)
            time.sleep(0.001)
threading.Thread(target=grow, daemon=True).start()
time.sleep(0.2)";
    for code in [code, "time.sleep(0.1)\n1"] {
        assert!(desk.py(code).error.is_none());
        let size = || std::fs::metadata(desk.folder().join("grow.bin")).unwrap().len();
        let before = size();
        std::thread::sleep(Duration::from_millis(600));
        assert_eq!(size(), before, "a thread wrote after its call");
    }
}

#[test]
fn deleted_files_count_as_long_as_they_are_open() {
    if !rustix::process::geteuid().is_root() {
        return; // Only root sees them; elsewhere the disk guard is the limit, as docs/sandbox.md says.
    }
    let mut desk = brief(30);
    desk.limits.folder_bytes = 20 << 20;
    let code = "
import os
kept = []
for i in range(200):
    f = open(f'f{i}', 'wb'); os.unlink(f'f{i}'); f.write(b'x' * 2**20); f.flush(); kept.append(f)
import time; time.sleep(20)";
    assert_eq!(kind(&desk.py(code)), JobErrorKind::Quota);
}

#[test]
fn a_million_files_and_endless_folders_are_stopped_and_cleaned() {
    let mut desk = brief(30);
    desk.limits.files = 500;
    let files = desk.py("i = 0\nwhile True:\n    i += 1\n    open(f'f{i}', 'w').close()");
    assert_eq!(kind(&files), JobErrorKind::Quota);
    let deep = desk.py("import os\nwhile True:\n    os.mkdir('d'); os.chdir('d')");
    assert_eq!(kind(&deep), JobErrorKind::Quota);
    let hidden = desk.py("import os\nos.makedirs('a/b')\nfor i in range(600): open(f'a/b/{i}', 'w').close()\nos.chmod('a/b', 0)");
    assert_eq!(kind(&hidden), JobErrorKind::Quota);
    assert_eq!(std::fs::read_dir(desk.folder()).unwrap().count(), 0, "what broke the quota is gone");
    assert_eq!(repr(&desk.py("1")), "1");
}

#[test]
fn temporary_space_is_bounded() {
    let desk = Desk::new().open();
    for place in ["/tmp", "/dev/shm"] {
        let outcome = desk.py(&format!("f = open('{place}/x', 'wb')\nwhile True: f.write(b'x' * 2**20)"));
        assert_eq!(outcome.error.unwrap().type_name, "OSError");
    }
}

#[test]
fn two_hundred_jobs_at_once_all_answer() {
    block(async {
        let desks: Vec<_> = (0..200).map(|_| Desk::new()).collect();
        let mut set = tokio::task::JoinSet::new();
        for (number, desk) in desks.iter().enumerate() {
            let (sandbox, job) = (
                desk.sandbox.clone(),
                desk.job(ba_sandbox::Work::UserCode { code: format!("{number} * 2") }),
            );
            set.spawn(async move { (number, sandbox.run(job, &|_| {}).await.unwrap()) });
        }
        let mut answered = 0;
        while let Some(result) = set.join_next().await {
            let (number, outcome) = result.unwrap();
            assert_eq!(repr(&outcome), (number * 2).to_string());
            answered += 1;
        }
        assert_eq!(answered, 200);
    });
}

#[test]
fn limits_hold_without_control_groups() {
    let scratch = tempfile::tempdir().unwrap();
    let settings = ba_sandbox::SandboxConfig { cgroups: false, pool: 1, ..config(scratch.path()) };
    let sandbox = block(Sandbox::start(settings)).unwrap();
    let mut desk = Desk::on(sandbox.clone()).open();
    desk.limits.memory = 200 << 20;
    desk.limits.wall = Duration::from_secs(20);
    assert_eq!(kind(&desk.py("x = bytearray(400 << 20)")), JobErrorKind::OutOfMemory);
    let spread = "
import os, time
for _ in range(8):
    if os.fork() == 0:
        block = bytearray(150 << 20)
        for i in range(0, len(block), 4096): block[i] = 1
        time.sleep(60)
time.sleep(60)";
    assert_eq!(kind(&desk.py(spread)), JobErrorKind::OutOfMemory);
    block(sandbox.shutdown());
}
