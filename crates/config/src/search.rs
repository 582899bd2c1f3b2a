//! Search providers by name, so that one line is enough: `BA_SEARCH="searxng http://127.0.0.1:8888, brave"`.

use ba_protocol::Secret;
use url::Url;

use crate::build::Sources;
use crate::error::ConfigError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchPreset {
    pub name: &'static str,
    /// Empty: the address must be given.
    pub url: &'static str,
    /// Where its key is looked for, ours first; empty when it needs none.
    pub key_variables: &'static [&'static str],
}

pub const SEARCH_PRESETS: [SearchPreset; 7] = [
    SearchPreset { name: "searxng", url: "", key_variables: &[] },
    SearchPreset {
        name: "brave",
        url: "https://api.search.brave.com/res/v1/web/search",
        key_variables: &["BA_BRAVE_API_KEY", "BRAVE_API_KEY"],
    },
    SearchPreset {
        name: "tavily",
        url: "https://api.tavily.com/search",
        key_variables: &["BA_TAVILY_API_KEY", "TAVILY_API_KEY"],
    },
    SearchPreset { name: "bing", url: "", key_variables: &["BA_BING_API_KEY", "BING_API_KEY"] },
    SearchPreset {
        name: "serper",
        url: "https://google.serper.dev/search",
        key_variables: &["BA_SERPER_API_KEY", "SERPER_API_KEY"],
    },
    SearchPreset {
        name: "bocha",
        url: "https://api.bochaai.com/v1/web-search",
        key_variables: &["BA_BOCHA_API_KEY", "BOCHA_API_KEY"],
    },
    SearchPreset {
        name: "zhipu",
        url: "https://open.bigmodel.cn/api/paas/v4/web_search",
        key_variables: &["BA_ZHIPU_API_KEY", "ZHIPUAI_API_KEY"],
    },
];

/// One provider of `web_search`, in order of preference.
#[derive(Debug, Clone)]
pub struct SearchProvider {
    /// One of [`SEARCH_PRESETS`].
    pub name: &'static str,
    pub url: Url,
    pub key: Option<Secret>,
    /// What to set when the key is refused.
    pub key_variable: &'static str,
}

const MAX_PROVIDERS: usize = 8;
const NAME: &str = "web.search";

/// `BA_SEARCH` replaces the file's list.
pub(crate) fn search(file: Vec<String>, sources: &Sources) -> Result<Vec<SearchProvider>, ConfigError> {
    let given = match sources.var("BA_SEARCH") {
        Some(line) => line.split(',').map(str::to_owned).collect(),
        None => file,
    };
    let entries: Vec<&str> = given.iter().map(|e| e.trim()).filter(|e| !e.is_empty()).collect();
    if entries.len() > MAX_PROVIDERS {
        return Err(ConfigError::invalid(NAME, format!("at most {MAX_PROVIDERS} providers")));
    }
    entries.into_iter().map(|entry| provider(entry, sources)).collect()
}

fn provider(entry: &str, sources: &Sources) -> Result<SearchProvider, ConfigError> {
    let mut words = entry.split_whitespace();
    let name = words.next().unwrap_or_default();
    let address = words.next();
    let Some(preset) = SEARCH_PRESETS.iter().find(|p| p.name == name) else {
        let known = SEARCH_PRESETS.map(|p| p.name).join(", ");
        let shown: String = name.chars().take(20).collect();
        return Err(ConfigError::invalid(NAME, format!("unknown provider `{shown}`; known: {known}")));
    };
    if words.next().is_some() {
        let message = format!("{name} takes an address and nothing else; keys are read from the environment");
        return Err(ConfigError::invalid(NAME, message));
    }
    let key = preset.key_variables.iter().find_map(|v| sources.var(v)).map(Secret::new);
    let key_variable = preset.key_variables.first().copied().unwrap_or_default();
    if key.is_none() && !key_variable.is_empty() {
        return Err(ConfigError::invalid(NAME, format!("{name} needs a key: set {key_variable}")));
    }
    Ok(SearchProvider { name: preset.name, url: address_of(preset, address)?, key, key_variable })
}

fn address_of(preset: &SearchPreset, given: Option<&str>) -> Result<Url, ConfigError> {
    let name = preset.name;
    let wrong = |message: String| ConfigError::invalid(NAME, message);
    let text = given.unwrap_or(preset.url);
    if text.is_empty() {
        return Err(wrong(format!("{name} needs an address: \"{name} http://127.0.0.1:8888\"")));
    }
    // The value is not repeated: somebody may have put a key into it.
    let mut url = Url::parse(text).map_err(|e| wrong(format!("the address of {name} is not valid: {e}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(wrong(format!("the address of {name} must begin with http:// or https://")));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(format!("the address of {name} must not hold a user or password")));
    }
    if url.path() == "/" {
        // Only a host was given: the usual path is meant.
        let usual = Url::parse(preset.url).map_or("/search".to_owned(), |u| u.path().to_owned());
        url.set_path(&usual);
    } else if name == "searxng" && !url.path().ends_with("/search") {
        url.set_path(&format!("{}/search", url.path().trim_end_matches('/')));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(entries: &[&str], environment: &[(&str, &str)]) -> Result<Vec<SearchProvider>, String> {
        let environment = environment.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let sources = Sources { environment, ..Sources::default() };
        search(entries.iter().map(|e| (*e).to_owned()).collect(), &sources).map_err(|e| e.to_string())
    }

    #[test]
    fn several_in_order_with_keys_from_the_environment() {
        let keys = [("BA_BRAVE_API_KEY", "k1"), ("TAVILY_API_KEY", "k2")];
        let all = with(&["searxng http://127.0.0.1:8888", "brave", "tavily"], &keys).unwrap();
        let shown: Vec<_> = all.iter().map(|p| (p.name, p.url.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("searxng", "http://127.0.0.1:8888/search"),
                ("brave", "https://api.search.brave.com/res/v1/web/search"),
                ("tavily", "https://api.tavily.com/search"),
            ]
        );
        assert_eq!(all[2].key.as_ref().unwrap().expose(), "k2");
        assert!(!format!("{all:?}").contains("k1"));
    }

    #[test]
    fn the_environment_replaces_the_file() {
        let all = with(&["brave"], &[("BA_SEARCH", "searxng https://s.example/sub/, ")]).unwrap();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].url.as_str(), "https://s.example/sub/search");
    }

    #[test]
    fn mistakes_name_what_to_do_and_repeat_no_secret() {
        for (entry, says) in [
            ("brave", "BA_BRAVE_API_KEY"),
            ("googel", "known: searxng"),
            ("searxng", "needs an address"),
            ("bing", "BA_BING_API_KEY"),
            ("searxng ftp://x", "http://"),
            ("searxng http://u:hunter2@x/", "user or password"),
            ("searxng http://x hunter2", "nothing else"),
        ] {
            let message = with(&[entry], &[]).unwrap_err();
            assert!(message.contains(says), "{entry}: {message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn nothing_is_fine() {
        assert!(with(&[], &[]).unwrap().is_empty());
    }
}
