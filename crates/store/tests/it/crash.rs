//! Kills a working process with SIGKILL at random moments and looks at what it left (SPEC E13).
//! `BA_CRASH_TRIALS=1000` makes it the long test.

use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use rand::RngExt;

use crate::load::{Acknowledged, command};

/// Trials that go on in one folder, each resuming what the one before left.
const PER_FOLDER: usize = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_message_is_lost_and_no_effect_happens_twice() {
    let trials = std::env::var("BA_CRASH_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(100);
    let (mut trial, mut acknowledged, mut silent) = (0, 0, 0);
    while trial < trials {
        let dir = tempfile::tempdir().unwrap();
        let mut all = Acknowledged::default();
        for _ in 0..PER_FOLDER.min(trials - trial) {
            let before = all.count();
            all.add(&run_and_kill(dir.path(), rand::rng().random_range(0..80)));
            assert_eq!(all.end, None, "the process failed by itself");
            all.verify(dir.path()).await;
            silent += usize::from(all.count() == before);
            trial += 1;
        }
        acknowledged += all.count();
    }
    println!("{trials} kills, {acknowledged} acknowledgements checked, {silent} kills before the first one");
    assert!(acknowledged > trials, "the load was too small to show anything");
}

/// Lets the process work until it has said that many lines (a slow machine is tested as hard as a fast one),
/// then a random moment more.
fn run_and_kill(dir: &std::path::Path, lines: usize) -> Vec<u8> {
    let mut child = command(dir).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (heard, hear) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let (mut output, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(n @ 1..) = stdout.read(&mut buffer) {
            output.extend_from_slice(&buffer[..n]);
            let _ = heard.send(output.iter().filter(|b| **b == b'\n').count());
        }
        output
    });
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while let Ok(count) = hear.recv_timeout(deadline.saturating_duration_since(std::time::Instant::now())) {
        if count >= lines {
            break;
        }
    }
    std::thread::sleep(Duration::from_millis(rand::rng().random_range(0..30)));
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

/// Two processes on one SQLite file: both work, one dies, nothing is lost; only one may be the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_share_one_sqlite_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut all = Acknowledged::default();
    let path = dir.path().to_owned();
    let first = std::thread::spawn({
        let path = path.clone();
        move || run_and_kill(&path, 150)
    });
    let second = std::thread::spawn(move || run_and_kill(&path, 60));
    all.add(&second.join().unwrap());
    all.add(&first.join().unwrap());
    assert_eq!(all.end, None, "a process failed");
    assert!(all.count() > 0);
    all.verify(dir.path()).await;
}
