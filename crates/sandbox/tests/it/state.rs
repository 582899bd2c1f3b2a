//! State that lives on between the calls of a conversation, and what ends it. SPEC T1.

use std::time::Duration;

use ba_sandbox::{JobErrorKind, Sandbox, SandboxConfig, SessionKey, StateNote, Work};

use crate::support::{Desk, block, config, repr, sandbox, stdout};

#[test]
fn imports_functions_and_tables_survive() {
    let desk = Desk::new().session("notebook");
    stdout(&desk.py("import pandas as pd\ndf = pd.DataFrame({'a': [1, 2, 3]})\ndef double(x): return x * 2"));
    stdout(&desk.py("df['b'] = df.a.map(double)"));
    assert_eq!(repr(&desk.py("int(df.b.sum())")), "12");
    assert_eq!(repr(&desk.py("_ + 1")), "13");
}

#[test]
fn libraries_with_threads_survive_the_forks() {
    let desk = Desk::new().open().session("threads");
    stdout(
        &desk.py("import duckdb, pandas as pd\npd.DataFrame({'v': range(100_000)}).to_parquet('t.parquet')"),
    );
    stdout(&desk.py("con = duckdb.connect()\ncon.execute('create table kept as select 42 as x')"));
    for _ in 0..3 {
        let code = "
df = pd.read_parquet('t.parquet')
(con.sql('select x from kept').fetchall()[0][0], duckdb.sql(\"select max(v) from 't.parquet'\").fetchall()[0][0], len(df))";
        assert_eq!(repr(&desk.py(code)), "(42, 99999, 100000)");
    }
    let pool = "
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool: total = sum(pool.map(lambda x: x * x, range(10)))
total";
    assert_eq!(repr(&desk.py(pool)), "285");
    assert_eq!(repr(&desk.py(pool)), "285");
}

#[test]
fn every_way_to_fail_leaves_the_state_as_it_was() {
    let mut desk = Desk::new().open().session("failures");
    desk.limits.memory = 400 << 20;
    stdout(&desk.py("x = [1]"));
    stdout(&desk.py("x.append(2)"));
    let failures = [
        ("x.append(99)\nraise ValueError('no')", JobErrorKind::Exception),
        ("x.append(99)\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)", JobErrorKind::Killed),
        ("x.append(99)\nimport os\nos._exit(0)", JobErrorKind::Killed),
        ("x.append(99)\nblock = bytearray(2 << 30)", JobErrorKind::OutOfMemory),
        ("x.append(99)\nwhile True: pass", JobErrorKind::Timeout),
        ("x.append(99)\ndef f(: pass", JobErrorKind::Exception),
        (
            "x.append(99)\nimport os\nif os.fork() == 0:\n    os.setsid()\n    while True: pass\nraise KeyError('k')",
            JobErrorKind::Exception,
        ),
    ];
    desk.limits.wall = Duration::from_secs(2);
    for (code, kind) in failures {
        let outcome = desk.py(code);
        assert_eq!(outcome.error.as_ref().unwrap().kind, kind, "{code}");
        assert_eq!(outcome.state, StateNote::Continued, "{code}");
        let after = desk.py("x");
        assert_eq!((repr(&after).as_str(), &after.state), ("[1, 2]", &StateNote::Continued), "{code}");
    }
}

#[test]
fn a_cancelled_call_leaves_the_state_as_it_was() {
    let desk = Desk::new().session("cancel");
    stdout(&desk.py("x = 1"));
    block(async {
        let long = desk.run("x = 2\nimport time\ntime.sleep(60)");
        assert!(tokio::time::timeout(Duration::from_millis(500), long).await.is_err());
    });
    let after = desk.py("x");
    assert_eq!((repr(&after).as_str(), &after.state), ("1", &StateNote::Continued));
}

#[test]
fn a_cancelled_first_call_leaves_nothing() {
    let desk = Desk::new().session("cancel-first");
    block(async {
        let long = desk.run("x = 2\nimport time\ntime.sleep(60)");
        assert!(tokio::time::timeout(Duration::from_millis(500), long).await.is_err());
    });
    let after = desk.py("'x' in globals()");
    assert_eq!((repr(&after).as_str(), &after.state), ("False", &StateNote::Fresh));
}

#[test]
fn killing_the_checkpoint_costs_only_the_own_state() {
    let desk = Desk::new().open().session("suicide");
    stdout(&desk.py("x = 1"));
    stdout(&desk.py("y = 1"));
    // The parent of the fork is the checkpoint: kill it, then fail.
    let outcome = desk.py("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nraise ValueError('no')");
    assert!(outcome.error.is_some());
    let after = desk.py("'x' in globals()");
    assert_eq!(repr(&after), "False");
    assert!(matches!(after.state, StateNote::Reset { .. }), "{:?}", after.state);
    assert_eq!(desk.py("1").state, StateNote::Continued, "told once");
}

#[test]
fn uploads_that_come_later_appear() {
    let mut desk = Desk::new().session("later");
    desk.input(&["a.csv", "upload_001"], "first");
    assert_eq!(stdout(&desk.py("print(open('a.csv').read())")), "first\n");
    desk.input(&["b.csv", "upload_002"], "second");
    assert_eq!(stdout(&desk.py("print(open('upload_002').read(), open('a.csv').read())")), "second first\n");
    let names =
        stdout(&desk.py("from pathlib import Path\nprint(sorted(p.name for p in Path('.').iterdir()))"));
    assert_eq!(names, "['a.csv', 'b.csv', 'upload_001', 'upload_002']\n");
}

#[test]
fn earlier_artifacts_are_there_and_not_reported_again() {
    let desk = Desk::new().session("artifacts");
    assert_eq!(desk.py("open('a.txt', 'w').write('1')").files.len(), 1);
    let second = desk.py("print(open('a.txt').read())\nopen('b.txt', 'w').write('2')");
    assert_eq!(second.files.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["b.txt"]);
    let third = desk.py("open('a.txt', 'a').write('more')");
    assert_eq!(
        third.files.iter().map(|f| (f.name.as_str(), f.created)).collect::<Vec<_>>(),
        [("a.txt", false)]
    );
}

#[test]
fn calls_of_one_conversation_run_one_after_the_other() {
    let desk = Desk::new().session("serial");
    stdout(&desk.py("n = 0"));
    block(async {
        let step = "v = n\nimport time\ntime.sleep(0.05)\nn = v + 1";
        let _ = tokio::join!(desk.run(step), desk.run(step), desk.run(step), desk.run(step));
    });
    assert_eq!(repr(&desk.py("n")), "4");
}

fn own(change: impl Fn(&mut SandboxConfig)) -> (Sandbox, tempfile::TempDir) {
    let scratch = tempfile::tempdir().unwrap();
    let mut settings = config(scratch.path());
    settings.pool = 1;
    change(&mut settings);
    (block(Sandbox::start(settings)).unwrap(), scratch)
}

#[test]
fn idle_state_is_dropped_and_said_so() {
    let (sandbox, _scratch) = own(|c| c.idle_state = Duration::from_millis(400));
    let desk = Desk::on(sandbox.clone()).session("idle");
    stdout(&desk.py("x = 1"));
    assert_eq!(sandbox.idle_states(), 1);
    // A state that is being looked at counts for none at that moment: it must stay gone.
    let mut gone = 0;
    while gone < 5 {
        gone = if sandbox.idle_states() > 0 { 0 } else { gone + 1 };
        std::thread::sleep(Duration::from_millis(50));
    }
    let after = desk.py("'x' in globals()");
    assert_eq!(repr(&after), "False");
    let StateNote::Reset { reason } = after.state else { panic!("{:?}", after.state) };
    assert!(reason.contains("idle"), "{reason}");
    block(sandbox.shutdown());
}

#[test]
fn the_least_recently_used_state_goes_first() {
    let (sandbox, _scratch) = own(|c| {
        c.max_states = 2;
        c.idle_state = Duration::from_secs(2);
    });
    let desks: Vec<_> = (0..3).map(|n| Desk::on(sandbox.clone()).session(&format!("lru{n}"))).collect();
    for desk in &desks {
        stdout(&desk.py("x = 1"));
    }
    let start = std::time::Instant::now();
    while sandbox.idle_states() > 2 && start.elapsed() < Duration::from_secs(1) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(matches!(desks[0].py("1").state, StateNote::Reset { .. }));
    assert_eq!(repr(&desks[2].py("x")), "1");
    block(sandbox.shutdown());
}

#[test]
fn a_file_that_is_gone_or_read_anew_ends_the_state_and_says_so() {
    let mut desk = Desk::new().session("basis");
    let key = desk.session.clone().unwrap();
    let rest_on = |basis: &[(&str, &str)]| {
        let basis = basis.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned()));
        block(sandbox().rest_on(&key, basis.collect()));
    };
    desk.input(&["a.csv"], "first");
    rest_on(&[("a.csv", "1")]);
    stdout(&desk.py("text = open('a.csv').read()"));
    desk.input(&["b.csv"], "second");
    rest_on(&[("a.csv", "1"), ("b.csv", "1")]);
    assert_eq!(desk.py("text").state, StateNote::Continued, "one more file changes nothing");
    let over = |version: &str| {
        let basis = [("a.csv".to_owned(), version.to_owned()), ("b.csv".to_owned(), "1".to_owned())];
        sandbox().variables_over(&key, &basis.into()).len()
    };
    assert_eq!((over("1"), over("2")), (1, 0), "what rests on another file is not announced");

    rest_on(&[("a.csv", "2"), ("b.csv", "1")]);
    let after = desk.py("'text' in globals()");
    assert_eq!(repr(&after), "False");
    assert_eq!(after.state, StateNote::Reset { reason: "a.csv was read again in another way".into() });

    desk.inputs.pop();
    rest_on(&[("a.csv", "2")]);
    let after = desk.py("import pathlib\n[p.name for p in pathlib.Path('.').iterdir()]");
    assert_eq!(repr(&after), "['a.csv']", "the removed file is not to be seen");
    assert_eq!(after.state, StateNote::Reset { reason: "b.csv was removed".into() });
}

#[test]
fn a_forgotten_conversation_starts_fresh() {
    let desk = Desk::new().session("forget");
    stdout(&desk.py("x = 1"));
    block(desk.sandbox.forget(desk.session.as_ref().unwrap()));
    let after = desk.py("'x' in globals()");
    assert_eq!((repr(&after).as_str(), &after.state), ("False", &StateNote::Fresh));
    block(desk.sandbox.forget(&SessionKey::new("never seen")));
}

#[test]
fn a_worn_zygote_is_replaced_while_state_lives_on() {
    let (sandbox, _scratch) = own(|c| c.recycle_after = 4);
    let kept = Desk::on(sandbox.clone()).session("kept");
    stdout(&kept.py("x = 5"));
    for _ in 0..4 {
        assert_eq!(repr(&Desk::on(sandbox.clone()).py("1")), "1");
    }
    assert_eq!(repr(&kept.py("x")), "5");
    block(sandbox.shutdown());
}

#[test]
fn variables_are_known_by_name_and_shape() {
    let desk = Desk::new().session("named");
    stdout(&desk.py("import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})\ntotal = 3"));
    let key = desk.session.clone().unwrap();
    let known = |key: &SessionKey| -> Vec<String> {
        desk.sandbox.variables(key).iter().map(|v| format!("{} {} {}", v.name, v.kind, v.about)).collect()
    };
    assert_eq!(known(&key), ["df DataFrame 2 × 1: a", "total int 3"]);
    assert!(desk.py("del total\nraise ValueError").error.is_some());
    assert_eq!(known(&key).len(), 2, "a call that fails changes nothing");
    block(desk.sandbox.forget(&key));
    assert_eq!(known(&key), [""; 0]);
}

#[test]
fn a_restart_is_told_with_the_next_call_even_if_that_one_fails() {
    let scratch = tempfile::tempdir().unwrap();
    let start = || {
        let mut settings = config(scratch.path());
        settings.pool = 1;
        block(Sandbox::start(settings)).unwrap()
    };
    let first = start();
    let mut desk = Desk::on(first.clone());
    desk.session = Some(SessionKey::new("conv_0123456789ab"));
    stdout(&desk.py("x = 1"));
    block(first.shutdown());
    desk.sandbox = start();
    let failed = desk.py("x");
    assert_eq!(failed.error.unwrap().type_name, "NameError");
    assert_eq!(failed.state, StateNote::Reset { reason: "the server was restarted".into() });
    assert_eq!(desk.py("1").state, StateNote::Fresh, "it is told once");
    block(desk.sandbox.clone().shutdown());
}

#[test]
fn shutdown_ends_running_jobs() {
    let (sandbox, _scratch) = own(|_| {});
    let desk = Desk::on(sandbox.clone());
    block(async {
        let job = desk.job(Work::UserCode { code: "import time\ntime.sleep(100)".into() });
        let running = tokio::spawn({
            let sandbox = sandbox.clone();
            async move { sandbox.run(job, &|_| {}).await }
        });
        tokio::time::sleep(Duration::from_millis(500)).await;
        sandbox.shutdown().await;
        let ended = tokio::time::timeout(Duration::from_secs(10), running).await.unwrap().unwrap();
        assert!(ended.is_err() || ended.unwrap().error.is_some());
    });
}
