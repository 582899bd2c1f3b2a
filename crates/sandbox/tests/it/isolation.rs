//! One job must not reach another, the zygote, or the next job, by any shared thing.

use std::collections::HashSet;

use ba_sandbox::{JobErrorKind, Stream};

use crate::support::{Desk, block, repr, stdout, text};

#[test]
fn nothing_a_job_changes_reaches_the_next_one() {
    let poison = Desk::new().open();
    // It cannot even report its own end any more; that is its own affair.
    drop(poison.py("
import builtins, sys, pandas, numpy, json, os
builtins.print = None
json.dumps = lambda *a, **k: 'poisoned'
pandas.read_csv = lambda *a, **k: 'poisoned'
sys.path.insert(0, '/job')
sys.modules['math'] = None
import ba_worker.usercode as u
u.run = lambda *a: {'value': 'poisoned'}
open('/tmp/left', 'w').write('x')
open('/dev/shm/left', 'w').write('x')
os.environ['LEFT'] = 'x'
numpy.random.seed(1)"));
    for _ in 0..4 {
        let next = Desk::new().open();
        let outcome = next.py(
            "
import json, math, os, sys, pandas
print(json.dumps([1]), os.path.exists('/tmp/left'), os.path.exists('/dev/shm/left'), 'LEFT' in os.environ, '/job' in sys.path, callable(pandas.read_csv))
math.pi",
        );
        assert_eq!(stdout(&outcome), "[1] False False False False True\n");
        assert_eq!(repr(&outcome), "3.141592653589793");
    }
}

#[test]
fn random_streams_differ_between_jobs() {
    let code = "
import random, uuid, secrets, numpy, tempfile
print(random.random(), numpy.random.rand(), uuid.uuid4(), secrets.token_hex(8), numpy.random.default_rng().random(), sep='\\n')";
    let mut seen = HashSet::new();
    for _ in 0..6 {
        for line in stdout(&Desk::new().open().py(code)).lines() {
            assert!(seen.insert(line.to_owned()), "{line} was drawn twice");
        }
    }
    assert_eq!(seen.len(), 30);
}

#[test]
fn jobs_at_the_same_time_do_not_see_each_other() {
    block(async {
        let (one, two) = (Desk::new().open(), Desk::new().open());
        let busy = one.run("import time\nopen('/tmp/shared', 'w').write('x')\nopen('/dev/shm/shared', 'w').write('x')\nSECRET = 'abc' * 1000\ntime.sleep(2)");
        let spy = async {
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
            two.run(
                "
import os, errno
print(os.path.exists('/tmp/shared'), os.path.exists('/dev/shm/shared'), os.listdir('/job'))
reached = []
for pid in range(1, 400):
    if pid == os.getpid(): continue
    try:
        os.kill(pid, 0); reached.append(pid)
    except OSError as e:
        pass
print([pid for pid in reached if pid > 2])",
            )
            .await
        };
        let (first, second) = tokio::join!(busy, spy);
        assert!(first.error.is_none());
        assert_eq!(stdout(&second), "False False []\n[]\n");
    });
}

#[test]
fn killing_everything_in_reach_hurts_only_the_job_itself() {
    let desk = Desk::new().open();
    let neighbour = Desk::new().session("neighbour");
    stdout(&neighbour.py("kept = 7"));
    let outcome =
        desk.py("import os, signal\nfor pid in (1, -1):\n    try: os.kill(pid, signal.SIGKILL)\n    except OSError: pass\nprint('here')");
    // pid 1 shrugs, and -1 spares the caller.
    assert_eq!(text(&outcome, Stream::Stdout), "here\n");
    let outcome = desk.py("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)");
    assert_eq!(outcome.error.unwrap().kind, JobErrorKind::Killed);
    let outcome = desk.py("import os\nos._exit(0)");
    assert_eq!(outcome.error.unwrap().kind, JobErrorKind::Killed);
    assert_eq!(repr(&neighbour.py("kept")), "7");
}

#[test]
fn forged_frames_shape_only_their_own_outcome() {
    let frames = [
        // A forged result with hostile fields.
        r#"{"result": {"value": {"repr": "forged"}, "error": null, "cpu": -1e9, "dropped": -5}}"#,
        r#"{"result": 5}"#,
        r#"{"restored": 0}"#,
        r#"{"restored": "x"}"#,
        r#"{"progress": {"fraction": 1e308, "message": 7}}"#,
        "[]",
        "null",
        "{not json",
    ];
    for frame in frames {
        let desk = Desk::new().open();
        let code = format!(
            "import os, struct\nbody = {frame:?}.encode()\nfor fd in range(3, 20):\n    try: os.write(fd, struct.pack('<cI', b'J', len(body)) + body)\n    except OSError: pass"
        );
        let outcome = desk.py(&code);
        assert!(outcome.files.is_empty());
        assert!(!format!("{:?}", outcome.value).contains("forged"), "{frame}: {:?}", outcome.value);
    }
    for header in ["b'J', 0xffffffff", "b'Z', 4", "b'O', 0x7fffffff"] {
        let desk = Desk::new().open();
        let code = format!(
            "import os, struct, time\nfor fd in range(3, 20):\n    try: os.write(fd, struct.pack('<cI', {header}) + b'abcd')\n    except OSError: pass\ntime.sleep(1)"
        );
        assert_eq!(desk.py(&code).error.unwrap().kind, JobErrorKind::Killed, "{header}");
    }
    assert_eq!(repr(&Desk::new().py("1")), "1");
}

#[test]
fn an_answer_made_ahead_is_no_answer_to_the_next_call() {
    let desk = Desk::new().open().session("cheat");
    stdout(&desk.py("
import threading, time, os, struct
def later():
    time.sleep(0.2)
    body = b'{\"result\": {\"value\": {\"repr\": \"forged\"}}}'
    for fd in range(3, 20):
        try: os.write(fd, struct.pack('<cI', b'J', len(body)) + body)
        except OSError: pass
threading.Thread(target=later, daemon=True).start()
x = 1"));
    std::thread::sleep(std::time::Duration::from_millis(600));
    // Nothing of it runs between calls, so its frame comes with the next one, whose ticket it does not know.
    let outcome = desk.py("import time\ntime.sleep(1)\n'x' in globals()");
    assert_eq!(repr(&outcome), "True", "{:?}", outcome.state);
    assert_eq!(repr(&Desk::new().open().session("honest").py("1 + 1")), "2");
}

#[test]
fn the_mount_broker_follows_no_link_of_a_job() {
    // A name that the job turned into a folder or filled before the upload arrives.
    let mut desk = Desk::new().open().session("broker");
    stdout(&desk.py("import os\nos.mkdir('later.csv')\nopen('taken.csv', 'w').write('mine')"));
    desk.input(&["taken.csv"], "upload");
    assert_eq!(stdout(&desk.py("print(open('taken.csv').read())")), "upload\n");
    desk.input(&["later.csv"], "upload");
    assert_eq!(stdout(&desk.py("print(open('later.csv').read())")), "upload\n");
}
