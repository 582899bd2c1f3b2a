//! One real PostgreSQL for the whole suite, in a temporary folder, on a socket. It ends with the test process,
//! however that ends: the shell that holds it waits on our pipe.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use ba_store::Meta;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

struct Server {
    _shell: Child,
    socket: PathBuf,
}

/// A database of its own for one case.
pub async fn fresh_database() -> Meta {
    let server = server();
    let name = format!("t_{}", uuid::Uuid::new_v4().simple());
    let mut admin = connect(&url(&server.socket, "postgres")).await;
    sqlx::query(AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut admin).await.unwrap();
    Meta::Postgres { url: url(&server.socket, &name) }
}

fn url(socket: &std::path::Path, database: &str) -> String {
    format!("postgres://tester@localhost/{database}?host={}", socket.display())
}

async fn connect(url: &str) -> PgConnection {
    for _ in 0..300 {
        if let Ok(connection) = PgConnection::connect(url).await {
            return connection;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("PostgreSQL did not start");
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(start)
}

fn start() -> Server {
    let bin = newest_bin();
    let dir = tempfile::Builder::new().prefix("ba-pg-").tempdir().unwrap().keep();
    // PostgreSQL refuses to run as root, so root hands over to an ordinary user.
    let (become_user, owner) = match unprivileged_user() {
        Some(user) => (format!("setpriv --reuid={user} --regid={user} --clear-groups"), Some(user)),
        None => (String::new(), None),
    };
    if let Some(user) = owner {
        assert!(Command::new("chown").arg(&user).arg(&dir).status().unwrap().success());
    }
    let script = format!(
        "{become_user} {bin}/initdb -D {dir}/data -U tester -A trust -E UTF8 --locale=C.UTF-8 --no-sync >{dir}/init.log 2>&1 || exit 1
         {become_user} {bin}/postgres -D {dir}/data -k {dir} -c listen_addresses= -c fsync=off -c max_connections=400 \
            -c shared_buffers=64MB -c unix_socket_permissions=0777 >{dir}/server.log 2>&1 </dev/null &
         read _wait_for_the_test_process
         kill -QUIT $!; wait $!; rm -rf {dir}",
        bin = bin.display(),
        dir = dir.display(),
    );
    let shell =
        Command::new("sh").arg("-c").arg(script).current_dir(&dir).stdin(Stdio::piped()).spawn().unwrap();
    Server { _shell: shell, socket: dir }
}

fn newest_bin() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok().into_iter().flatten().flatten();
    let newest = versions.map(|v| v.path().join("bin")).filter(|b| b.join("postgres").exists()).max();
    newest.expect("these tests need PostgreSQL: apt-get install postgresql")
}

fn unprivileged_user() -> Option<String> {
    let me = Command::new("id").arg("-u").output().unwrap().stdout;
    if me.trim_ascii() != b"0" {
        return None;
    }
    let known = |user: &str| Command::new("id").arg(user).output().is_ok_and(|o| o.status.success());
    Some(if known("postgres") { "postgres" } else { "nobody" }.to_owned())
}
