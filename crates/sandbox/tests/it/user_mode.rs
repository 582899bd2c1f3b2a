//! The same walls where the server is not a root that can switch users: the whole test runs again inside
//! a user namespace with a single user, without control groups.

use std::process::Command;

use ba_sandbox::{JobErrorKind, Sandbox, SandboxConfig};

use crate::support::{Desk, block, config, repr, stdout};

#[test]
fn everything_holds_as_an_ordinary_user() {
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "user_mode::inner", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "run by everything_holds_as_an_ordinary_user"]
fn inner() {
    let area = tempfile::tempdir().unwrap();
    let settings = SandboxConfig { cgroups: false, pool: 1, ..config(&area.path().join("scratch")) };
    let sandbox = block(Sandbox::start(settings)).unwrap();
    assert!(sandbox.self_test().iter().all(|witness| witness.denied));
    let secret = area.path().join("secret");
    std::fs::write(&secret, "TOP").unwrap();
    let mut desk = Desk::on(sandbox.clone()).open().session("user");
    desk.input(&["in.csv"], "original");
    stdout(&desk.py("x = open('in.csv').read()\nopen('out.txt', 'w').write('1')"));
    let probes = format!(
        "
import os
for attempt in (lambda: open({secret:?}), lambda: open('in.csv', 'w'), lambda: os.chmod('in.csv', 0o777), lambda: os.unlink('in.csv'), lambda: os.setuid(0),
                lambda: open('/etc/shadow'), lambda: os.listdir('/root'), lambda: os.execv('/bin/sh', ['sh'])):
    try:
        attempt(); print('ALLOWED')
    except OSError: pass
x",
        secret = secret.display().to_string()
    );
    let outcome = desk.py(&probes);
    assert_eq!((stdout(&outcome).as_str(), repr(&outcome).as_str()), ("", "'original'"));
    desk.limits.wall = std::time::Duration::from_secs(2);
    assert_eq!(desk.py("while True: pass").error.unwrap().kind, JobErrorKind::Timeout);
    desk.limits.memory = 200 << 20;
    assert_eq!(desk.py("y = bytearray(1 << 30)").error.unwrap().kind, JobErrorKind::OutOfMemory);
    assert_eq!(repr(&desk.py("x")), "'original'");
    assert_eq!(std::fs::read_to_string(&desk.inputs[0].path).unwrap(), "original");
    block(sandbox.shutdown());
}
