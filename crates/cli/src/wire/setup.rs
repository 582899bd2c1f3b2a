//! What an administrator sets up on the page: tries connections and models, and writes a model into the configuration
//! file. Never shows an address or a key.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use ba_config::{Config, ModelChoice, Sources};
use ba_data::Connections;
use ba_model::{HttpModel, ModelError};
use ba_protocol::api::ErrorInfo;
use ba_server::{ConnectionInfo, ModelSetup, SavedModel, Setup};

use super::models;

const DEFAULT_FILE: &str = "ba-agent.toml";
/// What the page writes, at the top of the file.
const KEYS: [&str; 3] = ["model", "base_url", "api_key"];

pub struct FileSetup {
    file: PathBuf,
    connections: Connections,
}

impl FileSetup {
    pub fn new(config: &Config, connections: Connections) -> Self {
        let file = config.file.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
        Self { file, connections }
    }
}

#[async_trait]
impl Setup for FileSetup {
    fn connections(&self) -> Vec<ConnectionInfo> {
        let known = self.connections.list().into_iter();
        known.map(|info| ConnectionInfo { name: info.name, description: info.description }).collect()
    }

    async fn test_connection(&self, name: &str) -> Result<String, ErrorInfo> {
        match self.connections.schema(name, None).await {
            Ok(_) => Ok("the database answers".to_owned()),
            Err(error) => Err(ErrorInfo::new("connection_failed", error.to_string())),
        }
    }

    async fn test_model(&self, wanted: &ModelSetup) -> Result<String, ErrorInfo> {
        let unfit = |why: String| ErrorInfo::new("model_settings", why);
        let failed = |error: ModelError| ErrorInfo::new(error.code(), error.to_string());
        let choice =
            with_model("", wanted).and_then(|text| load(&text, Sources::default())).map_err(unfit)?.model;
        let ModelChoice::Remote(remote) = &choice else {
            return Ok(format!("{} needs no key", choice.name()));
        };
        let client = HttpModel::new(models::settings(remote)).map_err(|e| unfit(e.to_string()))?;
        let reached = client.check().await.map_err(failed)?;
        match reached.lists_model {
            Some(false) => {
                let message = format!("the key works, but the endpoint does not list {}", wanted.model);
                Err(ErrorInfo::new("model_not_listed", message))
            }
            Some(true) | None => Ok(format!("{} answers in {} ms", choice.name(), reached.took.as_millis())),
        }
    }

    async fn save_model(&self, wanted: &ModelSetup) -> Result<SavedModel, String> {
        let old = match std::fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("{}: {error}", self.file.display())),
        };
        let text = with_model(&old, wanted)?;
        load(&text, Sources::default())?;
        let effective = load(&text, Sources::from_process())?.model.name();
        write_private(&self.file, &text).map_err(|error| format!("{}: {error}", self.file.display()))?;
        let overridden_by = (effective != wanted.model).then_some(effective);
        Ok(SavedModel { file: self.file.display().to_string(), overridden_by })
    }
}

/// The file with this model instead of the one it names; everything else stays as somebody wrote it.
fn with_model(old: &str, wanted: &ModelSetup) -> Result<String, String> {
    let mut at_top = true;
    let kept = old.lines().filter(|line| {
        let line = line.trim_start();
        at_top &= !line.starts_with('[');
        let ours =
            |key: &&str| line.strip_prefix(*key).is_some_and(|rest| rest.trim_start().starts_with('='));
        !(at_top && KEYS.iter().any(ours))
    });
    let kept: Vec<&str> = kept.collect();
    let given = [
        ("model", Some(&wanted.model)),
        ("base_url", wanted.base_url.as_ref()),
        ("api_key", wanted.api_key.as_ref()),
    ];
    let mut text = String::new();
    for (key, value) in given {
        let Some(value) = value else { continue };
        // A string of JSON is one of TOML, too.
        let value = serde_json::to_string(value).map_err(|error| error.to_string())?;
        text.push_str(&format!("{key} = {value}\n"));
    }
    text.push_str(&kept.join("\n"));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// Checks it like the file at a start.
fn load(text: &str, sources: Sources) -> Result<Config, String> {
    let mut file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    file.write_all(text.as_bytes()).map_err(|error| error.to_string())?;
    ba_config::load(&Sources { file: Some(file.path().to_owned()), ..sources })
        .map_err(|error| error.to_string())
}

/// Whole or not at all, and for this account only: there is a key in it.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map(|_| ()).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(model: &str, key: Option<&str>) -> ModelSetup {
        ModelSetup { model: model.to_owned(), api_key: key.map(str::to_owned), base_url: None }
    }

    #[test]
    fn the_rest_of_the_file_stays_as_it_was() {
        let old = "# ours\nmodel = \"offline\"\nlisten = \"127.0.0.1:1\"\n\n[models.small]\nmodel = \"ollama:qwen3\"\n";
        let new = with_model(old, &wanted("deepseek:deepseek-chat", Some("sk-\"x\""))).unwrap();
        assert_eq!(
            new,
            "model = \"deepseek:deepseek-chat\"\napi_key = \"sk-\\\"x\\\"\"\n# ours\nlisten = \"127.0.0.1:1\"\n\n[models.small]\nmodel = \"ollama:qwen3\"\n"
        );
        let config = load(&new, Sources::default()).unwrap();
        assert_eq!((config.model.name(), config.models.len()), ("deepseek:deepseek-chat".to_owned(), 1));
    }

    #[tokio::test]
    async fn a_model_that_nobody_knows_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ba-agent.toml");
        std::fs::write(&file, "model = \"offline\"\n").unwrap();
        let connections = Connections::new(Vec::new()).unwrap();
        let setup = FileSetup { file: file.clone(), connections };
        assert!(setup.save_model(&wanted("nonsense", None)).await.is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "model = \"offline\"\n");
        let saved = setup.save_model(&wanted("deepseek:deepseek-chat", Some("sk-1"))).await.unwrap();
        assert_eq!(saved.file, file.display().to_string());
        assert!(std::fs::read_to_string(&file).unwrap().contains("sk-1"));
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(
            std::fs::metadata(&file).unwrap().permissions().mode() & 0o077,
            0,
            "for this account only"
        );
    }
}
