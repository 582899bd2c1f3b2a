//! A real PostgreSQL and a real MariaDB (and, where asked for, ClickHouse's engine), started once for all tests in folders of their own, and ended with them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use tempfile::TempDir;

/// A running server; it ends with the test process.
pub struct Server {
    pub port: u16,
    _process: Child,
    dir: TempDir,
}

impl Server {
    /// The certificate that the server shows.
    pub fn certificate(&self) -> PathBuf {
        self.dir.path().join("server.crt")
    }
}

pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Servers refuse to run as root: they get an account that may not do anything else.
fn as_user(user: &str, program: &Path) -> Command {
    let root = std::fs::metadata("/proc/self")
        .map(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0)
        .unwrap_or(false);
    if root {
        let mut command = Command::new("runuser");
        command.args(["-u", user, "--"]).arg(program);
        command
    } else {
        Command::new(program)
    }
}

fn own(dir: &Path, user: &str) {
    let _ = Command::new("chown").arg("-R").arg(user).arg(dir).status();
}

fn newest(pattern_root: &str, program: &str) -> PathBuf {
    let mut found: Vec<PathBuf> = std::fs::read_dir(pattern_root)
        .into_iter()
        .flatten()
        .filter_map(|e| e.ok().map(|e| e.path().join("bin").join(program)))
        .filter(|p| p.is_file())
        .collect();
    found.sort();
    found.pop().unwrap_or_else(|| PathBuf::from(program))
}

/// Runs `server` beside a shell that ends it when this process is gone.
#[expect(clippy::zombie_processes, reason = "the watcher outlives this process on purpose")]
pub fn spawn_watched(mut server: Command) -> Child {
    server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = server.spawn().unwrap();
    let watch = format!(
        "while kill -0 {} 2>/dev/null; do sleep 1; done; kill {} 2>/dev/null; sleep 1; pkill -P {} 2>/dev/null",
        std::process::id(),
        child.id(),
        child.id()
    );
    Command::new("sh")
        .args(["-c", &watch])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child
}

pub fn wait_for(what: &str, ready: impl Fn() -> bool) {
    for _ in 0..600 {
        if ready() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{what} did not start");
}

/// A certificate that nobody signed but itself.
fn certify(dir: &Path) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    std::fs::write(dir.join("server.crt"), made.cert.pem()).unwrap();
    let key = dir.join("server.key");
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    // The server refuses a key that others may read.
    let only_mine = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&key, only_mine).unwrap();
}

pub fn postgres() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let dir = tempfile::Builder::new().prefix("ba-pg").tempdir_in("/tmp").unwrap();
        own(dir.path(), "postgres");
        let data = dir.path().join("data");
        let bin = |name: &str| newest("/usr/lib/postgresql", name);
        let made = as_user("postgres", &bin("initdb"))
            .args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(made.success());
        let port = free_port();
        certify(dir.path());
        own(dir.path(), "postgres");
        let mut server = as_user("postgres", &bin("postgres"));
        server
            .arg("-D")
            .arg(&data)
            .args(["-h", "127.0.0.1", "-p", &port.to_string(), "-F"])
            // A zone of its own, and TLS, as servers at work have them.
            .args(["-c", "timezone=Asia/Shanghai", "-c", "log_timezone=UTC", "-c", "ssl=on"])
            .arg("-c")
            .arg(format!("ssl_cert_file={}", dir.path().join("server.crt").display()))
            .arg("-c")
            .arg(format!("ssl_key_file={}", dir.path().join("server.key").display()))
            .arg("-k")
            .arg(dir.path());
        let process = spawn_watched(server);
        let psql = |sql: &str| {
            Command::new(bin("psql"))
                .args([
                    "-h",
                    "127.0.0.1",
                    "-U",
                    "postgres",
                    "-p",
                    &port.to_string(),
                    "-v",
                    "ON_ERROR_STOP=1",
                    "-q",
                    "-c",
                    sql,
                ])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|s| s.success())
        };
        wait_for("PostgreSQL", || psql("SELECT 1"));
        assert!(psql(include_str!("postgres.sql")));
        // From here on, who is not the owner gives a password.
        let access = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
        std::fs::write(data.join("pg_hba.conf"), access).unwrap();
        assert!(psql("SELECT pg_reload_conf()"));
        Server { port, _process: process, dir }
    })
}

pub fn mariadb() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let dir = tempfile::Builder::new().prefix("ba-my").tempdir_in("/tmp").unwrap();
        let data = dir.path().join("data");
        std::fs::create_dir(&data).unwrap();
        own(dir.path(), "mysql");
        let made = as_user("mysql", Path::new("mariadb-install-db"))
            .arg("--no-defaults")
            .arg(format!("--datadir={}", data.display()))
            .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(made.success());
        let port = free_port();
        let socket = dir.path().join("s");
        let mut server = as_user("mysql", Path::new("/usr/sbin/mariadbd"));
        // The machine's zone, as most servers at work have it.
        server
            .env("TZ", "Asia/Shanghai")
            .arg("--no-defaults")
            .arg(format!("--datadir={}", data.display()))
            .arg(format!("--socket={}", socket.display()))
            .args([
                &format!("--port={port}"),
                "--bind-address=127.0.0.1",
                "--skip-log-bin",
                "--innodb-flush-method=fsync",
            ]);
        let process = spawn_watched(server);
        let run = |sql: &str| {
            Command::new("mariadb")
                .args(["--no-defaults", "-u", "root", "-S"])
                .arg(&socket)
                .args(["-e", sql])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|s| s.success())
        };
        wait_for("MariaDB", || run("SELECT 1"));
        assert!(run(include_str!("mariadb.sql")));
        Server { port, _process: process, dir }
    })
}

/// ClickHouse's own engine behind its HTTP interface; `BA_CHDB_PYTHON` names a Python that has the package `chdb`.
pub fn clickhouse() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let python = std::env::var_os("BA_CHDB_PYTHON").expect("BA_CHDB_PYTHON names a Python with chdb");
        let dir = tempfile::Builder::new().prefix("ba-ch").tempdir().unwrap();
        let port = free_port();
        let mut server = Command::new(python);
        server
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clickhouse/serve.py"))
            .arg(dir.path().join("data"))
            .arg(port.to_string());
        let process = spawn_watched(server);
        wait_for("ClickHouse", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Server { port, _process: process, dir }
    })
}
