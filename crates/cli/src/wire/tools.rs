//! The one list of tools, in the order the model reads them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ba_agent::pipeline::Counter;
use ba_agent::{Registry, Tool, Typed};
use ba_config::Config;
use ba_data::guard::{Dialect, FileTable};
use ba_data::{ConnectionConfig, Connections, SecretUrl, Stored, Tables, UploadsEngine};
use ba_skills::SkillLibrary;
use ba_store::Store;
use ba_tools::{
    ActivateSkill, Addresses, Dossier, FileReader, Python, QueryDatabase, RunPython, WebReader, WebSearch,
};

use super::embedded::{ShippedSkills, unpack};

/// Before every key of the bucket.
pub const S3_PREFIX: &str = "ba-agent";
/// The connection of `[engine]`.
const ENGINE: &str = "engine";

pub struct Tools {
    pub registry: Registry,
    pub tables: Option<Tables>,
}

pub fn registry(
    config: &Config,
    store: &Store,
    python: &Python,
    skills: &Arc<SkillLibrary>,
    counter: &Counter,
    remote: Vec<Arc<dyn Tool>>,
) -> anyhow::Result<Tools> {
    let connections = connections(config)?;
    let tables = match python {
        Python::Ready(sandbox) => {
            let tables = Tables::new(sandbox.clone(), config.data_dir.join("sandbox/tables"));
            Some(match uploads_engine(config, &connections) {
                Some(engine) => tables.with_engine(engine),
                None => tables,
            })
        }
        Python::Refused(_) => None,
    };
    let dossier = Dossier { store: store.clone(), python: python.clone(), connections: connections.clone() };
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Typed::new(FileReader { tables: tables.clone(), store: store.clone() })),
        Arc::new(Typed::new(QueryDatabase { tables: tables.clone(), connections, store: store.clone() })),
        Arc::new(Typed::new(RunPython { python: python.clone(), store: store.clone() })),
    ];
    if config.web.enabled {
        let web = super::web::web(config)?;
        let addresses = Addresses::new(store.clone(), config.web.open);
        let search = super::web::search(config, &web)?;
        tools.push(Arc::new(Typed::new(WebSearch::new(search, addresses.clone()))));
        tools.push(Arc::new(Typed::new(WebReader::new(web, tables.clone(), addresses))));
    }
    tools.push(Arc::new(Typed::new(ActivateSkill::new(skills.clone(), counter.clone()))));
    tools.extend(remote);
    Ok(Tools { registry: Registry::new(tools)?.with_briefing(Arc::new(dossier)), tables })
}

/// The databases of the configuration; nothing is connected before the first query.
pub fn connections(config: &Config) -> anyhow::Result<Connections> {
    let configs = config.connections.iter().map(|c| ConnectionConfig {
        name: c.name.clone(),
        url: SecretUrl::new(c.url.expose()),
        description: c.description.clone(),
        allow_superuser: c.allow_superuser,
        functions: c.functions.clone(),
        timeout: Duration::from_secs(c.timeout_seconds),
        timezone: c.timezone.clone(),
        dialect: c.dialect.as_deref().and_then(Dialect::named),
        files: None,
    });
    Ok(Connections::new(configs.chain(config.engine.iter().map(engine)).collect())?)
}

/// The engine over files is one more connection, whose tables are the lakes.
fn engine(config: &ba_config::Engine) -> ConnectionConfig {
    let about: Vec<String> = config.lakes.iter().map(|l| format!("{} {}", l.name, l.description)).collect();
    let table = |lake: &ba_config::Lake| FileTable { names: vec![lake.name.clone()], url: lake.path.clone() };
    ConnectionConfig {
        name: ENGINE.to_owned(),
        url: SecretUrl::new(config.url.expose()),
        description: about.join("; "),
        allow_superuser: false,
        functions: Vec::new(),
        timeout: Duration::from_secs(config.timeout_seconds),
        timezone: config.timezone.clone(),
        dialect: Some(Dialect::Spark),
        files: Some(config.lakes.iter().map(table).collect()),
    }
}

/// Large uploads are asked where they lie, when they lie in S3 and an engine is there to read them.
fn uploads_engine(config: &Config, connections: &Connections) -> Option<UploadsEngine> {
    let (engine, s3) = (config.engine.as_ref()?, config.storage.s3.as_ref()?);
    let (bucket, cache) = (s3.bucket.clone(), config.data_dir.join("cache/blobs"));
    Some(UploadsEngine {
        connections: connections.clone(),
        name: ENGINE.to_owned(),
        from_bytes: engine.uploads_mb << 20,
        whereabouts: Arc::new(move |file| stored(file, &cache, &bucket)),
    })
}

/// The store's copy of the object `ba-agent/ab/abcd…` is the file `cache/blobs/abcd…`.
fn stored(file: &Path, cache: &Path, bucket: &str) -> Option<Stored> {
    let id = file.file_name()?.to_str()?;
    let shard = id.get(..2)?;
    if file.parent()? != cache || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let bytes = file.metadata().ok()?.len();
    Some(Stored { url: format!("s3://{bucket}/{S3_PREFIX}/{shard}/{id}"), bytes })
}

/// The skills inside the binary, as a folder.
pub fn shipped_skills(data_dir: &Path) -> anyhow::Result<Option<PathBuf>> {
    Ok(Some(unpack::<ShippedSkills>(&data_dir.join("shipped/skills"))?))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ba_agent::prompt::{PromptTemplate, tool_sections};
    use ba_agent::run::Language;
    use ba_config::Sources;
    use ba_model::TokenCounter;

    use super::*;

    /// SPEC P12: `docs/prompts.md` holds exactly what the schemas say. BA_UPDATE_PROMPTS=1 writes it anew.
    #[tokio::test]
    async fn the_prompt_document_says_what_the_tools_say() {
        let folder = tempfile::tempdir().unwrap();
        let sources = Sources { data_dir: Some(folder.path().to_owned()), ..Sources::default() };
        let config = ba_config::load(&sources).unwrap();
        let store = crate::wire::open_store(&config).await.unwrap();
        let skills = crate::wire::open_skills(&config).unwrap();
        let counter: Counter = Arc::new(|text: &str| text.len());
        let python = Python::Refused("not needed".to_owned());
        let tools = registry(&config, &store, &python, &skills, &counter, Vec::new()).unwrap();
        let sections = tool_sections(&tools.registry);

        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/prompts.md");
        let document = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = document.split_once("\n<!-- tools -->\n").unwrap();
        let (held, after) = rest.split_once("<!-- /tools -->").unwrap();
        if std::env::var("BA_UPDATE_PROMPTS").is_ok() {
            let updated = format!("{before}\n<!-- tools -->\n{sections}\n<!-- /tools -->{after}");
            std::fs::write(&path, updated).unwrap();
            return;
        }
        assert_eq!(held.trim_end(), sections, "run BA_UPDATE_PROMPTS=1 cargo test -p ba-cli prompt");

        let template = PromptTemplate::parse(&document).unwrap();
        assert_eq!(template.english_faults(&tools.registry), Vec::<String>::new());
        // SPEC W7: both prompts are small, and a search nobody configured is not offered.
        let counter = TokenCounter::for_model("gpt-4o");
        let prompt = template.render(&tools.registry, &[]);
        for language in [Language::Zh, Language::En] {
            let text = prompt.of(language);
            let tokens = counter.count(text);
            assert!(tokens <= 3_000, "{language:?}: {tokens} tokens");
            assert!(!text.contains("## web_search") && text.contains("## web_reader"));
        }
    }

    async fn names(config: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ba-agent.toml");
        std::fs::write(&file, config).unwrap();
        let sources =
            Sources { data_dir: Some(folder.path().to_owned()), file: Some(file), ..Sources::default() };
        let config = ba_config::load(&sources).unwrap();
        let store = crate::wire::open_store(&config).await.unwrap();
        let skills = crate::wire::open_skills(&config).unwrap();
        let python = Python::Refused("not needed".to_owned());
        let tools =
            registry(&config, &store, &python, &skills, &(Arc::new(|_: &str| 0usize) as Counter), Vec::new())
                .unwrap();
        tools.registry.names().into_iter().map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn every_tool_of_the_specification_is_registered_once() {
        let all =
            ["file_reader", "query_database", "run_python", "web_search", "web_reader", "activate_skill"];
        assert_eq!(names("").await, all);
    }

    /// SPEC T4: what the prompt says of the search follows from what is configured.
    #[tokio::test]
    async fn the_tool_list_says_whether_there_is_a_search() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(ba_store::StoreConfig::local(folder.path())).await.unwrap();
        let description = |search: &str| {
            let environment = [("BA_SEARCH".to_owned(), search.to_owned())].into();
            let sources =
                Sources { data_dir: Some(folder.path().to_owned()), environment, ..Sources::default() };
            let config = ba_config::load(&sources).unwrap();
            let web = crate::wire::web::web(&config).unwrap();
            let search = crate::wire::web::search(&config, &web).unwrap();
            let tool = Typed::new(WebSearch::new(search, Addresses::new(store.clone(), false)));
            tool.spec().description.clone()
        };
        assert!(description("").contains("不要调用"));
        let configured = description("searxng http://127.0.0.1:8888");
        assert!(configured.contains("searxng") && !configured.contains("不可用"), "{configured}");
    }

    #[tokio::test]
    async fn without_the_web_its_tools_are_not_offered() {
        let rest = ["file_reader", "query_database", "run_python", "activate_skill"];
        assert_eq!(names("[web]\nenabled = false").await, rest);
    }
}
