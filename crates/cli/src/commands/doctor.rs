//! `ba-agent doctor`: one line for each thing that must work, with the fix for what does not.

use std::process::ExitCode;
use std::sync::Arc;

use ba_config::{Config, ModelChoice};
use ba_model::{HttpModel, Model as _};
use ba_sandbox::{Input, Job, Limits, Sandbox, Work};
use ba_store::Repair;

use crate::output;
use crate::wire;

/// What was found, and what to do when it is wrong.
struct Finding {
    name: &'static str,
    outcome: Result<String, Problem>,
}

struct Problem {
    what: String,
    fix: String,
}

impl Problem {
    fn new(what: impl ToString, fix: impl ToString) -> Self {
        Self { what: what.to_string(), fix: fix.to_string() }
    }
}

pub async fn run(config: Config) -> anyhow::Result<ExitCode> {
    let mut findings = vec![configuration(&config), disk(&config), privacy(&config)];
    findings.extend(storage(&config).await);
    findings.push(finding("model", model(&config.model).await));
    for named in &config.models {
        let outcome = model(&named.choice).await;
        findings.push(finding("model", outcome.map(|words| format!("[models.{}] {words}", named.name))));
    }
    findings.extend(python(&config).await);
    findings.extend(connections(&config).await);
    findings.extend(search(&config).await);
    findings.push(skills(&config));
    findings.push(web(&config));
    findings.extend(collector(&config).await);
    let mut wrong = 0;
    for finding in &findings {
        match &finding.outcome {
            Ok(detail) => output::say(&format!("✓ {:<12} {detail}", finding.name)),
            Err(problem) => {
                wrong += 1;
                output::say(&format!("✗ {:<12} {}\n  fix: {}", finding.name, problem.what, problem.fix));
            }
        }
    }
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn finding(name: &'static str, outcome: Result<String, Problem>) -> Finding {
    Finding { name, outcome }
}

/// Whether something listens where traces are sent; only when a collector is configured.
async fn collector(config: &Config) -> Option<Finding> {
    let url = config.otlp.as_ref()?;
    let host = url.host_str().unwrap_or_default().to_owned();
    let port = url.port_or_known_default().unwrap_or(4318);
    let reached = tokio::time::timeout(
        std::time::Duration::from_secs(3),
        tokio::net::TcpStream::connect((host.trim_matches(['[', ']']), port)),
    );
    let outcome = match reached.await {
        Ok(Ok(_)) => Ok(format!("OpenTelemetry collector at {host}:{port}")),
        _ => Err(Problem::new(
            format!("no OpenTelemetry collector answers at {host}:{port}"),
            "start it there (OTLP over HTTP, usually port 4318), or remove `otlp` from the configuration",
        )),
    };
    Some(finding("otlp", outcome))
}

fn configuration(config: &Config) -> Finding {
    let from =
        config.file.as_ref().map_or("defaults and BA_* variables".to_owned(), |f| f.display().to_string());
    finding("config", Ok(format!("{from}; listens on {}", config.listen)))
}

fn disk(config: &Config) -> Finding {
    let folder = &config.data_dir;
    let tried = ba_store::create_dir_all(folder).and_then(|()| {
        let probe = folder.join(".doctor");
        std::fs::write(&probe, b"ok")?;
        std::fs::remove_file(probe)
    });
    let outcome = match tried {
        Ok(()) => Ok(format!("{} can be written", folder.display())),
        Err(error) => Err(Problem::new(
            format!("{}: {error}", folder.display()),
            "choose a folder you may write to with --data-dir or BA_DATA_DIR",
        )),
    };
    finding("disk", outcome)
}

/// Puts right what other accounts of the machine could read, and says so (SPEC H6).
fn privacy(config: &Config) -> Finding {
    let outcome = match ba_store::open_to_others(&config.data_dir, Repair::Yes) {
        Err(error) => Err(Problem::new(
            format!("{}: {error}", config.data_dir.display()),
            format!("as its owner run: chmod -R go-rwx '{}'", config.data_dir.display()),
        )),
        Ok(open) if open.is_empty() => Ok("only this account can read the data folder".to_owned()),
        Ok(open) => Ok(format!(
            "{} files and folders could be read by others, such as {}; they are closed now",
            open.len(),
            open[0].display()
        )),
    };
    finding("privacy", outcome)
}

/// The database, whole, and the place where files lie.
async fn storage(config: &Config) -> Vec<Finding> {
    let store = match wire::open_store(config).await {
        Ok(store) => store,
        Err(error) => {
            let fix = "check the data folder's owner, or the `database` address";
            return vec![finding("database", Err(Problem::new(format!("{error:#}"), fix)))];
        }
    };
    let tables = match store.check_database().await {
        Ok(()) => store.integrity().await,
        Err(error) => Err(error),
    };
    let database = match tables {
        Ok(found) if found.is_empty() => Ok("opens, answers and is sound".to_owned()),
        Ok(found) => Err(Problem::new(
            format!("the database is damaged: {}", ba_protocol::text::shorten(&found.join("; "), 300)),
            "stop the server and restore a backup; nothing was changed",
        )),
        Err(error) => Err(Problem::new(error, "see the message; nothing was changed")),
    };
    let place = match &config.storage.s3 {
        Some(s3) => format!("bucket {}", s3.bucket),
        None => "the data folder".to_owned(),
    };
    let files = match store.check_blobs().await {
        Ok(()) => Ok(format!("can be kept in {place}")),
        Err(error) => Err(Problem::new(
            format!("{place}: {error}"),
            "free space on the disk, or check the bucket, its address and its keys ([storage.s3])",
        )),
    };
    vec![finding("database", database), finding("files", files)]
}

async fn model(choice: &ModelChoice) -> Result<String, Problem> {
    match choice {
        ModelChoice::Offline => {
            Ok("offline analyst (no key needed); set BA_MODEL=provider:model for a language model".to_owned())
        }
        ModelChoice::Replay(path) if path.is_file() => Ok(format!("replays {}", path.display())),
        ModelChoice::Replay(path) => Err(Problem::new(
            format!("{} is missing", path.display()),
            "record one with `ba-agent ask --record`",
        )),
        ModelChoice::Remote(remote) => match HttpModel::new(wire::models::settings(remote)) {
            Err(error) => Err(Problem::new(error, "correct base_url, proxy or api_key")),
            Ok(mut client) => match client.check().await {
                Ok(reached) => {
                    client.learn_window().await;
                    let listed = match reached.lists_model {
                        Some(false) => "; its list of models does not name it",
                        Some(true) | None => "",
                    };
                    let (name, took) = (choice.name(), reached.took.as_millis());
                    let (window, from) = (client.info().window, client.window_source());
                    Ok(format!("{name} answers in {took} ms{listed}; window {window} tokens, {from}"))
                }
                Err(error) => Err(Problem::new(
                    format!("{}: {error}", choice.name()),
                    "check BA_BASE_URL, BA_API_KEY and the network",
                )),
            },
        },
    }
}

async fn python(config: &Config) -> Vec<Finding> {
    let env = match wire::python::prepare(config).await {
        Ok(env) => env,
        Err(error) => {
            let fix = "install Python 3.11 or newer with venv (Debian: apt-get install python3-venv), or set BA_PYTHON_ENV";
            return vec![finding("python", Err(Problem::new(error, fix)))];
        }
    };
    let mut all = vec![finding("python", Ok(format!("{} in {}", env.version, env.prefix.display())))];
    match wire::python::try_start(config).await {
        Err(error) => {
            let fix = match &error {
                ba_sandbox::SandboxError::Start(_) => {
                    "the machine may be too busy: try again; else see docs/sandbox.md"
                }
                _ => "see docs/sandbox.md: user namespaces, Landlock and seccomp must be allowed",
            };
            all.push(finding("sandbox", Err(Problem::new(error, fix))));
        }
        Ok(sandbox) => {
            let witnesses = sandbox.self_test();
            let failed: Vec<&str> = witnesses.iter().filter(|w| !w.denied).map(|w| w.name.as_str()).collect();
            let outcome = if failed.is_empty() {
                Ok(format!("{} attacks were seen to be denied", witnesses.len()))
            } else {
                Err(Problem::new(format!("not denied: {}", failed.join(", ")), "see docs/sandbox.md"))
            };
            all.push(finding("sandbox", outcome));
            all.push(finding("fonts", fonts(&sandbox).await));
            sandbox.shutdown().await;
        }
    }
    all
}

/// Draws Chinese text and looks for the warning matplotlib gives when a glyph is missing.
async fn fonts(sandbox: &Sandbox) -> Result<String, Problem> {
    let fix = "remove the Python environment from the cache folder; it is made again";
    let folder = tempfile::tempdir().map_err(|e| Problem::new(e, "make the temporary folder writable"))?;
    let code = "import matplotlib.pyplot as plt, warnings\n\
                with warnings.catch_warnings(record=True) as seen:\n    warnings.simplefilter('always')\n    \
                plt.title('销售额同比增长'); plt.savefig('font.png')\n    \
                print(sum('Glyph' in str(w.message) for w in seen))";
    let job = Job {
        owner: "doctor".to_owned(),
        session: None,
        work: Work::UserCode { code: code.to_owned() },
        inputs: Vec::<Input>::new(),
        folder: folder.path().to_owned(),
        limits: Limits::default(),
    };
    let outcome = sandbox.run(job, &|_| {}).await.map_err(|e| Problem::new(e, fix))?;
    let printed: String = outcome.output.iter().map(|c| c.text.as_str()).collect();
    if outcome.error.is_none() && printed.trim() == "0" {
        Ok("Chinese text in charts is readable".to_owned())
    } else {
        Err(Problem::new(format!("glyphs are missing: {}", printed.trim()), fix))
    }
}

async fn connections(config: &Config) -> Vec<Finding> {
    let connections = match wire::tools::connections(config) {
        Ok(connections) => connections,
        Err(error) => {
            return vec![finding(
                "connections",
                Err(Problem::new(error, "correct [connections] in the file")),
            )];
        }
    };
    let mut all = Vec::new();
    for info in connections.list() {
        let outcome = match connections.schema(&info.name, None).await {
            Ok(_) => Ok(format!("{} answers", info.name)),
            Err(error) => Err(Problem::new(
                format!("{}: {error}", info.name),
                "check the address, the user's rights (reading only, no superuser) and the network",
            )),
        };
        all.push(finding("connection", outcome));
    }
    all
}

/// Asks each search provider one small question.
async fn search(config: &Config) -> Vec<Finding> {
    if !config.web.enabled {
        return vec![finding("search", Ok("the web is switched off (web.enabled = false)".to_owned()))];
    }
    let search = match wire::web::web(config).and_then(|web| wire::web::search(config, &web)) {
        Ok(search) => search,
        Err(error) => return vec![finding("search", Err(Problem::new(error, "correct `search` in [web]")))],
    };
    let names = search.names();
    if names.is_empty() {
        let text = "none configured (web_search says so); set BA_SEARCH, see docs/web.md";
        return vec![finding("search", Ok(text.to_owned()))];
    }
    let mut all = Vec::new();
    for (index, name) in names.into_iter().enumerate() {
        let outcome = match search.check(index).await {
            Ok(hits) => Ok(format!("{name} answers ({hits} results)")),
            Err(error) => {
                Err(Problem::new(error, "check the address, the key and the network; see docs/web.md"))
            }
        };
        all.push(finding("search", outcome));
    }
    all
}

fn skills(config: &Config) -> Finding {
    let outcome = match wire::open_skills(config) {
        Ok(library) => Ok(format!("{} active", Arc::clone(&library.catalog()).active_skills().count())),
        Err(error) => Err(Problem::new(error, "check the `skills` folders in the configuration")),
    };
    finding("skills", outcome)
}

/// What the model may reach: nothing is fetched for it.
fn web(config: &Config) -> Finding {
    let given = &config.web;
    if !given.enabled {
        return finding("web", Ok("off".to_owned()));
    }
    let mut words = match given.allow_domains.as_slice() {
        [] => "on; all public addresses".to_owned(),
        some => format!("on; {}", some.join(", ")),
    };
    if !given.deny_domains.is_empty() {
        words.push_str(&format!("; not {}", given.deny_domains.join(", ")));
    }
    if !given.private_addresses.is_empty() {
        words.push_str(&format!("; {} private addresses opened", given.private_addresses.len()));
    }
    finding("web", Ok(words))
}
