//! Servers of the real binary on one PostgreSQL, each taken for a machine of its own where that can be done (a host name per
//! start, as containers have), and who drives what, read from the tables.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ba_store::{Meta, Store, StoreConfig};
use sqlx::{PgPool, Row};
use tempfile::TempDir;

use crate::postgres;

/// A run whose server was killed.
struct Orphan {
    run: String,
    epoch: i64,
    since: Instant,
    taken_after: Option<Duration>,
}

pub struct Fleet {
    dir: TempDir,
    model: String,
    database: String,
    servers: Vec<Child>,
    pub addresses: Arc<Mutex<Vec<String>>>,
    pub store: Store,
    pub pool: PgPool,
    orphans: Arc<Mutex<Vec<Orphan>>>,
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

impl Fleet {
    pub async fn start(count: usize, model: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let meta = postgres::fresh_database().await;
        let Meta::Postgres { url: database } = &meta else { panic!("not PostgreSQL") };
        let pool = PgPool::connect(database).await.unwrap();
        let mut config = StoreConfig::local(dir.path().join("watcher"));
        config.meta = meta.clone();
        let store = Store::open(config).await.unwrap();
        let mut fleet = Self {
            model: model.to_owned(),
            database: database.clone(),
            servers: Vec::new(),
            addresses: Arc::default(),
            store,
            pool,
            orphans: Arc::default(),
            dir,
        };
        for index in 0..count {
            let (child, address) = fleet.launch(index);
            fleet.servers.push(child);
            fleet.addresses.lock().unwrap().push(address);
        }
        tokio::spawn(watch(fleet.pool.clone(), fleet.orphans.clone()));
        fleet
    }

    fn effects_file(&self) -> PathBuf {
        self.dir.path().join("effects")
    }

    /// Every line that the tool wrote.
    pub fn effects(&self) -> String {
        std::fs::read_to_string(self.effects_file()).unwrap_or_default()
    }

    fn launch(&self, index: usize) -> (Child, String) {
        let data = self.dir.path().join(format!("server-{index}"));
        std::fs::create_dir_all(&data).unwrap();
        let config = data.join("ba-agent.toml");
        let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/effects.py");
        let text = format!(
            "database = {:?}\nwitness = false\n[mcp.effects]\ncommand = \"python3\"\nargs = [{:?}, {:?}]\nwrites = [\"note\"]\n",
            self.database,
            tool.display().to_string(),
            self.effects_file().display().to_string(),
        );
        std::fs::write(&config, text).unwrap();
        let host = format!("pod-{}", uuid::Uuid::new_v4().simple());
        let serve = "exec \"$@\"";
        let mut command = if renames() {
            let mut command = Command::new("unshare");
            command.args(["--uts", "sh", "-c", &format!("hostname {host}; {serve}"), "sh"]);
            command
        } else {
            let mut command = Command::new("sh");
            command.args(["-c", serve, "sh"]);
            command
        };
        let mut child = command
            .arg(env!("CARGO_BIN_EXE_ba-agent"))
            .args(["serve", "--listen", "127.0.0.1:0", "--config"])
            .arg(&config)
            .arg("--data-dir")
            .arg(&data)
            .env("BA_MODEL", "openai-compatible:mock")
            .env("BA_BASE_URL", &self.model)
            .env("BA_API_KEY", "k")
            .env("BA_PYTHON_ENV", data.join("no-python"))
            .current_dir(&data)
            .stdout(Stdio::piped())
            .stderr(std::fs::File::options().create(true).append(true).open(data.join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = lines.find_map(|l| l.ok().filter(|l| l.contains("ready: http://")));
        let Some(ready) = ready else {
            panic!("the server did not start: {}", std::fs::read_to_string(data.join("log")).unwrap())
        };
        let address = ready.split("ready: ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        (child, address)
    }

    pub fn address(&self, index: usize) -> String {
        self.addresses.lock().unwrap()[index].clone()
    }

    /// SIGTERM: it drains and ends.
    pub fn terminate(&self, index: usize) {
        let pid = self.servers[index].id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    }

    /// SIGKILL; the runs it drove are watched from now on.
    pub async fn kill(&mut self, index: usize) {
        let pid = self.servers[index].id();
        let held = sqlx::query(
            "SELECT id, epoch FROM runs WHERE status = 'running' AND split_part(holder, '/', 2) = $1",
        );
        let held = held.bind(pid.to_string()).fetch_all(&self.pool).await.unwrap();
        self.servers[index].kill().unwrap();
        self.servers[index].wait().unwrap();
        let since = Instant::now();
        let orphan = |row: &sqlx::postgres::PgRow| Orphan {
            run: row.get(0),
            epoch: row.get(1),
            since,
            taken_after: None,
        };
        self.orphans.lock().unwrap().extend(held.iter().map(orphan));
    }

    /// As a new machine in its place.
    pub async fn restart(&mut self, index: usize) {
        let (child, address) = tokio::task::block_in_place(|| self.launch(index));
        self.servers[index] = child;
        self.addresses.lock().unwrap()[index] = address;
    }

    /// How long each run waited for another server.
    pub async fn until_all_have_ended(&self, patience: Duration) -> Vec<Duration> {
        let began = Instant::now();
        loop {
            let open = self.store.open_runs().await.unwrap();
            let waiting = self.orphans.lock().unwrap().iter().filter(|o| o.taken_after.is_none()).count();
            if open.is_empty() && waiting == 0 {
                break;
            }
            assert!(began.elapsed() < patience, "{} runs have not ended: {:?}", open.len(), open.first());
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        self.orphans.lock().unwrap().iter().filter_map(|orphan| orphan.taken_after).collect()
    }
}

/// Whether a process can be given a host name of its own here.
fn renames() -> bool {
    let tried = Command::new("unshare").args(["--uts", "hostname", "tried"]).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

/// Notes when another server has an orphan, or when it turns out to have ended.
async fn watch(pool: PgPool, orphans: Arc<Mutex<Vec<Orphan>>>) {
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let waiting: Vec<(String, i64)> = {
            let all = orphans.lock().unwrap();
            all.iter().filter(|o| o.taken_after.is_none()).map(|o| (o.run.clone(), o.epoch)).collect()
        };
        for (run, epoch) in waiting {
            let row =
                sqlx::query("SELECT epoch, status FROM runs WHERE id = $1").bind(&run).fetch_one(&pool).await;
            let Ok(row) = row else { continue };
            if row.get::<i64, _>(0) > epoch || row.get::<String, _>(1) != "running" {
                let mut all = orphans.lock().unwrap();
                for orphan in all.iter_mut().filter(|o| o.run == run && o.taken_after.is_none()) {
                    orphan.taken_after = Some(orphan.since.elapsed());
                }
            }
        }
    }
}
