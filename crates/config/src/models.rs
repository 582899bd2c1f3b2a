//! Which models there are: the one of `model`, one for summaries, and those of `[models.NAME]` (SPEC K2, W6).

use std::path::PathBuf;

use ba_protocol::Secret;

use crate::build::{Sources, parse_url};
use crate::error::ConfigError;
use crate::presets::{PRESETS, Preset};
use crate::raw::{RawConfig, RawModel, RawPrices};
use crate::types::{ModelChoice, NamedModel, Prices, RemoteModel};

type Result<T> = std::result::Result<T, ConfigError>;

/// Seconds for one answer, and of silence in a stream.
const TIMEOUT: u64 = 300;
const IDLE: u64 = 300;

pub(crate) struct Models {
    pub default: ModelChoice,
    pub summary: Option<ModelChoice>,
    pub named: Vec<NamedModel>,
}

/// What one model was given.
struct Given<'a> {
    /// Where it stands in the file, for messages.
    key: &'a str,
    model: &'a str,
    base_url: Option<&'a str>,
    api_key: Option<&'a str>,
    window: Option<usize>,
    timeout: Option<u64>,
    idle: Option<u64>,
    proxy: Option<&'a str>,
    prices: Option<RawPrices>,
}

pub(crate) fn models(raw: &RawConfig, sources: &Sources) -> Result<Models> {
    let named = raw.models.iter().map(|(name, given)| named(name, given, raw, sources));
    let named = named.collect::<Result<Vec<_>>>()?;
    let by_name = |wanted: &str| named.iter().find(|m| m.name == wanted).map(|m| m.choice.clone());
    let default = match raw.model.as_deref() {
        None => ModelChoice::Offline,
        Some(given) => match by_name(given) {
            Some(choice) => choice,
            None => {
                choice(&plain("model", given, raw.base_url.as_deref(), raw.api_key.as_deref(), raw), sources)?
            }
        },
    };
    let summary = match raw.summary_model.as_deref() {
        None => None,
        Some(given) => Some(match by_name(given) {
            Some(choice) => choice,
            None => {
                let same = raw.model.as_deref().is_some_and(|m| provider_of(m) == provider_of(given));
                let base = raw.summary_base_url.as_deref().or(raw.base_url.as_deref().filter(|_| same));
                let key = raw.summary_api_key.as_deref().or(raw.api_key.as_deref().filter(|_| same));
                choice(&plain("summary_model", given, base, key, raw), sources)?
            }
        }),
    };
    Ok(Models { default, summary, named })
}

fn plain<'a>(
    key: &'a str,
    model: &'a str,
    base_url: Option<&'a str>,
    api_key: Option<&'a str>,
    raw: &'a RawConfig,
) -> Given<'a> {
    Given {
        key,
        model,
        base_url,
        api_key,
        window: raw.window,
        timeout: raw.model_timeout,
        idle: raw.stream_idle,
        proxy: raw.proxy.as_deref(),
        prices: raw.prices,
    }
}

fn named(name: &str, given: &RawModel, raw: &RawConfig, sources: &Sources) -> Result<NamedModel> {
    let key = format!("models.{name}");
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || name == "offline" || !name.chars().all(plain) {
        return Err(ConfigError::invalid(
            key,
            "use letters, digits, _ - and . in a model's name, and not `offline`",
        ));
    }
    // A key is given to the provider it was meant for, and to no other address.
    let same = raw.model.as_deref().is_some_and(|m| provider_of(m) == provider_of(&given.model));
    let shared = raw
        .api_key
        .as_deref()
        .filter(|_| same && (given.base_url.is_none() || given.base_url == raw.base_url));
    let choice = choice(
        &Given {
            key: &key,
            model: &given.model,
            base_url: given.base_url.as_deref().or(raw.base_url.as_deref().filter(|_| same)),
            api_key: given.api_key.as_deref().or(shared),
            window: given.window,
            timeout: given.timeout.or(raw.model_timeout),
            idle: given.stream_idle.or(raw.stream_idle),
            proxy: given.proxy.as_deref().or(raw.proxy.as_deref()),
            prices: given.prices,
        },
        sources,
    )?;
    Ok(NamedModel { name: name.to_owned(), choice })
}

fn provider_of(given: &str) -> &str {
    given.split_once(':').map_or(given, |(p, _)| p)
}

fn choice(given: &Given<'_>, sources: &Sources) -> Result<ModelChoice> {
    if given.model == "offline" {
        return Ok(ModelChoice::Offline);
    }
    let names = || PRESETS.map(|p| p.name).join(", ");
    let Some((provider, model)) = given.model.split_once(':').filter(|(_, m)| !m.is_empty()) else {
        let message = format!(
            "`{}` is neither provider:model nor a name of [models]. Providers: {}, offline, replay:<file>",
            given.model,
            names()
        );
        return Err(ConfigError::invalid(given.key, message));
    };
    if provider == "replay" {
        return Ok(ModelChoice::Replay(PathBuf::from(model)));
    }
    let Some(preset) = PRESETS.iter().find(|p| p.name == provider) else {
        return Err(ConfigError::invalid(
            given.key,
            format!("unknown provider `{provider}`; known: {}", names()),
        ));
    };
    let api_key = given.api_key.map(str::to_owned).or_else(|| sources.var(preset.key_variable));
    require_key(preset, api_key.as_deref(), given.base_url)?;
    let base = given.base_url.unwrap_or(preset.base_url);
    if base.is_empty() {
        return Err(ConfigError::invalid(
            "base_url",
            format!("{provider} needs an address: set BA_BASE_URL"),
        ));
    }
    Ok(ModelChoice::Remote(RemoteModel {
        provider: provider.to_owned(),
        dialect: preset.dialect,
        model: model.to_owned(),
        base_url: parse_url("base_url", base)?,
        api_key: api_key.map(Secret::new),
        window: given.window,
        prices: given.prices.map(|p| Prices { input: p.input, output: p.output, cached: p.cached }),
        proxy: given.proxy.map(|p| parse_url("proxy", p)).transpose()?,
        timeout_seconds: given.timeout.unwrap_or(TIMEOUT).max(1),
        idle_seconds: given.idle.unwrap_or(IDLE).max(1),
    }))
}

/// A key is needed by the hosted providers; an own address may do without.
fn require_key(preset: &Preset, key: Option<&str>, base_url: Option<&str>) -> Result<()> {
    if preset.key_required && key.is_none() && base_url.is_none() {
        let message = format!("{} needs a key: set BA_API_KEY or {}", preset.name, preset.key_variable);
        return Err(ConfigError::invalid("api_key", message));
    }
    Ok(())
}
