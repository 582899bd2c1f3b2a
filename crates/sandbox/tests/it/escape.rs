//! Attempts to get out, with the import allow-list off: each must fail, and be seen to fail.

use std::io::Read;
use std::os::unix::net::UnixListener;

use crate::support::{Desk, stdout};

/// Raw system calls by number, answered with the name of the error or OK.
const SYSCALLS: &str = r#"
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def sc(number, *args):
    ready = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return errno.errorcode[ctypes.get_errno()] if libc.syscall(ctypes.c_long(number), *ready) < 0 else 'OK'
"#;

fn denied(desk: &Desk, code: &str) -> String {
    let outcome = desk.py(&format!("{SYSCALLS}\n{code}"));
    let text = stdout(&outcome);
    assert!(!text.is_empty());
    for line in text.lines() {
        let (what, result) = line.split_once(' ').unwrap();
        assert!(["EPERM", "EACCES", "ENOSYS", "ENOENT"].contains(&result), "{what} gave {result}");
    }
    text
}

#[test]
#[cfg(target_arch = "x86_64")]
fn dangerous_system_calls_are_refused() {
    let desk = Desk::new().open();
    let text = denied(
        &desk,
        r#"
calls = dict(ptrace=(101, 0, 0, 0, 0), ptrace_attach=(101, 16, 1, 0, 0), mount=(165, b'x', b'/job', b'tmpfs', 0, 0),
    umount=(166, b'/proc', 2), pivot_root=(155, b'/job', b'/job'), chroot=(161, b'/job'), bpf=(321, 0, 0, 0),
    keyctl=(250, 0, 0), add_key=(248, b'user', b'a', b'b', 1, -3), request_key=(249, b'user', b'a', 0, 0),
    userfaultfd=(323, 1), io_uring_setup=(425, 1, 0), io_uring_enter=(426, 0, 0, 0, 0, 0),
    unshare_user=(272, 0x10000000), unshare_mount=(272, 0x20000), setns=(308, 0, 0),
    clone_newuser=(56, 0x10000011, 0, 0, 0, 0), clone_newpid=(56, 0x20000011, 0, 0, 0, 0),
    clone_newnet=(56, 0x40000011, 0, 0, 0, 0), clone3=(435, ctypes.create_string_buffer(88), 88),
    perf_event_open=(298, 0, 0, 0, 0, 0), process_vm_readv=(310, 1, 0, 0, 0, 0, 0), process_vm_writev=(311, 1, 0, 0, 0, 0, 0),
    kcmp=(312, 1, 1, 0, 0, 0), pidfd_getfd=(438, 0, 0, 0), pidfd_send_signal=(424, 0, 9, 0, 0),
    open_by_handle_at=(304, -100, 0, 0), name_to_handle_at=(303, -100, b'/', 0, 0, 0), fanotify_init=(300, 0, 0),
    init_module=(175, 0, 0, b''), finit_module=(313, 0, b'', 0), kexec_load=(246, 0, 0, 0, 0), reboot=(169, 0, 0, 0, 0),
    swapon=(167, b'/x', 0), sethostname=(170, b'x', 1), settimeofday=(164, 0, 0), clock_settime=(227, 0, 0), acct=(163, 0),
    quotactl=(179, 0, 0, 0, 0), syslog=(103, 3, 0, 0), iopl=(172, 3), ioperm=(173, 0, 1, 1), personality=(135, 0x0040000),
    setuid=(105, 0), setgid=(106, 0), setresuid=(117, 0, 0, 0), setgroups=(116, 0, 0), setfsuid_capset=(126, 0, 0),
    memfd_create=(319, b'x', 0), memfd_secret=(447, 0), execve=(59, b'/usr/bin/env', 0, 0), execveat=(322, 3, b'', 0, 0, 0x1000),
    shmget=(29, 0, 4096, 0o1600), msgget=(68, 0, 0o1600), semget=(64, 0, 1, 0o1600), mq_open=(240, b'/x', 64, 0o600, 0),
    open_tree=(428, -100, b'/', 1), move_mount=(429, 0, b'', 0, b'', 0), fsopen=(430, b'tmpfs', 0), mount_setattr=(442, 0, b'', 0, 0, 0),
    mlockall=(151, 1), sched_setaffinity=(203, 1, 8, b'\1' * 8), sched_setscheduler=(144, 0, 1, b'\1' * 4), setpriority=(141, 0, 0, -5),
    ioprio_set=(251, 1, 0, 0), prlimit_other=(302, 1, 7, 0, 0), prctl_dumpable=(157, 4, 1, 0, 0, 0), vmsplice=(278, 0, 0, 0, 0),
    modify_ldt=(154, 1, 0, 0), lookup_dcookie=(212, 0, 0, 0), vhangup=(153,), nfsservctl_mknod=(133, b'/job/dev', 0o020666, 0x0103),
    linkat=(265, -100, b'/usr/lib/os-release', -100, b'/job/l', 0), symlink=(88, b'/etc/shadow', b'/job/s'))
for name, args in calls.items():
    print(name, sc(*args))
"#,
    );
    assert!(text.lines().count() > 60);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_32_bit_and_x32_doors_are_shut() {
    let desk = Desk::new().open();
    // x32: getpid and socket with the x32 bit set.
    denied(
        &desk,
        "print('x32_getpid', sc(0x40000000 | 39))\nprint('x32_socket', sc(0x40000000 | 41, 2, 1, 0))",
    );
    // int 0x80 with the 32-bit number of getpid: the filter kills the process instead of misreading the number.
    let code = "
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex('b814000000cd80c3'))
ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
print('survived')";
    let outcome = desk.py(code);
    assert_eq!(outcome.error.unwrap().kind, ba_sandbox::JobErrorKind::Killed);
}

#[test]
fn no_socket_of_any_family_and_no_names_resolved() {
    let desk = Desk::new().open();
    denied(
        &desk,
        "
import socket
for family in range(46):
    for kind in (1, 2, 3, 5):
        print(f'family_{family}_{kind}', sc(41 if os.uname().machine == 'x86_64' else 198, family, kind, 0))
print('pair', sc(53 if os.uname().machine == 'x86_64' else 199, 1, 1, 0, ctypes.create_string_buffer(8)))",
    );
    let outcome = desk.py("import socket\nsocket.getaddrinfo('localhost', 80)");
    assert!(outcome.error.is_some());
}

#[test]
fn host_unix_sockets_hear_nothing() {
    let desk = Desk::new().open();
    let path = desk.dir.path().join("server.sock");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let code = format!(
        "import socket\nfor name in ({:?}, '\\0abstract'):\n    try:\n        s = socket.socket(socket.AF_UNIX)\n        s.connect(name)\n        print('connected')\n    except OSError as e:\n        print('denied')",
        path.display().to_string()
    );
    assert_eq!(stdout(&desk.py(&code)), "denied\ndenied\n");
    assert!(listener.accept().is_err());
}

#[test]
fn subclass_walks_reach_no_program() {
    let desk = Desk::new().open();
    let outcome = desk.py(
        "
names = {c.__name__: c for c in ().__class__.__base__.__subclasses__()}
import subprocess, os
for attempt in (lambda: subprocess.Popen(['/bin/sh', '-c', 'id']), lambda: os.system('id') and 1 / 0, lambda: os.popen('id').read(),
                lambda: os.execv('/bin/sh', ['sh']), lambda: os.posix_spawn('/bin/sh', ['sh'], {})):
    try:
        print('ran', attempt())
    except (OSError, ZeroDivisionError) as e:
        print('denied')",
    );
    let text = stdout(&outcome);
    assert!(!text.contains("uid="), "{text}");
    assert_eq!(text.matches("denied").count(), 5, "{text}");
}

#[test]
fn a_dropped_program_does_not_run() {
    let desk = Desk::new().open();
    let outcome = desk.py("
import os, subprocess
open('evil', 'wb').write(b'#!/bin/sh\\necho ran')
os.chmod('evil', 0o755)
try:
    os.chmod('evil', 0o4755)
    print('setuid')
except PermissionError:
    print('no setuid')
for argv in (['/job/evil'], ['/lib64/ld-linux-x86-64.so.2', '/job/evil']):
    try:
        print(subprocess.run(argv, capture_output=True).stdout)
    except PermissionError:
        print('denied')");
    assert_eq!(stdout(&outcome), "no setuid\ndenied\ndenied\n");
}

#[test]
fn host_files_are_not_there() {
    let desk = Desk::new().open();
    let secret = desk.dir.path().join("server.db");
    std::fs::write(&secret, "TOP-SECRET").unwrap();
    let other = Desk::new();
    other.py("open('theirs.txt', 'w').write('OTHER-JOB')");
    let code = format!(
        "
import os
for path in ({secret:?}, {other:?}, '/etc/shadow', '/etc/passwd', '/root', '/home', '/proc/1/environ', '/proc/self/mem', '/proc/self/environ',
             '/sys', '/dev/sda', '/dev/mem', '/dev/kmsg', '/dev/tty', '/var', '/run', '/boot', '/job/../etc/shadow', '/worker/../root'):
    try:
        print('OPEN', path, os.listdir(path) if os.path.isdir(path) else open(path, 'rb').read(10))
    except OSError as e:
        print('denied')",
        secret = secret.display().to_string(),
        other = other.folder().join("theirs.txt").display().to_string(),
    );
    let text = stdout(&desk.py(&code));
    assert!(!text.contains("OPEN"), "{text}");
    assert_eq!(text.matches("denied").count(), 19);
}

#[test]
fn nothing_but_the_job_folder_can_be_written() {
    let desk = Desk::new().open();
    let outcome = desk.py(
        "
import os, sys, numpy
places = ['/', '/usr/lib', '/lib', '/worker', '/worker/ba_worker', '/proc', '/dev', '/etc', os.path.dirname(numpy.__file__), sys.prefix, sys.base_prefix]
for place in places:
    for attempt in (lambda: open(place + '/x', 'w'), lambda: os.mkdir(place + '/d'), lambda: os.chmod(place, 0o777), lambda: os.rename(place, '/job/y')):
        try:
            attempt()
            print('WROTE', place)
        except OSError:
            pass
open('/job/fine', 'w').close(); open('/tmp/fine', 'w').close(); open('/dev/shm/fine', 'w').close()
print('end')",
    );
    assert_eq!(stdout(&outcome), "end\n");
}

#[test]
fn inputs_are_read_only_whatever_is_tried() {
    let mut desk = Desk::new().open();
    desk.input(&["sales.csv", "upload_001"], "original");
    let outcome = desk.py(
        "
import os
for attempt in (lambda: open('sales.csv', 'w'), lambda: open('upload_001', 'a'), lambda: os.truncate('sales.csv', 0), lambda: os.unlink('sales.csv'),
                lambda: os.rename('sales.csv', 'x'), lambda: os.replace('/tmp/x', 'sales.csv'), lambda: os.chmod('sales.csv', 0o777),
                lambda: os.utime('sales.csv'), lambda: os.link('sales.csv', 'x')):
    try:
        attempt()
        print('CHANGED')
    except OSError:
        pass
print(open('sales.csv').read())",
    );
    assert_eq!(stdout(&outcome), "original\n");
    assert_eq!(std::fs::read_to_string(&desk.inputs[0].path).unwrap(), "original");
    assert!(outcome.files.is_empty(), "{:?}", outcome.files);
}

#[test]
fn no_secret_in_the_environment_and_no_foreign_descriptor() {
    let desk = Desk::new().open();
    // A descriptor without close-on-exec, as a careless parent would leave it.
    let mut leaked = tempfile::tempfile().unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let outcome = desk.py("
import os
print(sorted(os.environ))
for fd in range(3, 256):
    try:
        os.fstat(fd)
    except OSError:
        continue
    try:
        os.write(fd, b'') ; os.lseek(fd, 0, 0); print('SEEKABLE', fd)
    except OSError:
        pass");
    let text = stdout(&outcome);
    for name in ["BA_", "KEY", "TOKEN", "SECRET", "CARGO", "USER"] {
        assert!(!text.contains(name), "{text}");
    }
    assert!(!text.contains("SEEKABLE"), "{text}");
    let mut content = Vec::new();
    leaked.read_to_end(&mut content).unwrap();
    assert!(content.is_empty());
}

#[test]
fn links_devices_and_pipes_cannot_be_made() {
    let desk = Desk::new().open();
    let outcome = desk.py(
        "
import os, stat
attempts = [lambda: os.symlink('/etc/shadow', 'a'), lambda: os.link('/usr/lib/os-release', 'b'), lambda: os.mknod('c', stat.S_IFCHR | 0o666, os.makedev(1, 3)),
            lambda: os.mkfifo('d'), lambda: os.mknod('e', stat.S_IFSOCK | 0o666)]
for attempt in attempts:
    try:
        attempt(); print('MADE')
    except OSError:
        print('denied')
open('ok.txt', 'w').write('x')",
    );
    assert_eq!(stdout(&outcome), "denied\n".repeat(5));
    assert_eq!(outcome.files.len(), 1);
}
