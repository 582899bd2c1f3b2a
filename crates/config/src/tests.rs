//! Files and environments as people write them, right and wrong.

use super::*;

fn load_with(toml: &str, environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ba-agent.toml");
    std::fs::write(&file, toml).unwrap();
    let environment = environment.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    load(&Sources { file: Some(file), environment, ..Sources::default() })
}

fn message(result: Result<Config, ConfigError>) -> String {
    result.unwrap_err().to_string()
}

// SPEC K2: without BA_MODEL, the offline analyst on loopback.
#[test]
fn nothing_to_configure() {
    let config = load_with("", &[]).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8000");
    assert_eq!(config.model.name(), "offline");
    assert_eq!(config.limits.max_rounds, 30);
}

#[test]
fn one_line_sets_a_model_and_the_usual_key_is_found() {
    let config =
        load_with("", &[("BA_MODEL", "deepseek:deepseek-chat"), ("DEEPSEEK_API_KEY", "sk-x")]).unwrap();
    let ModelChoice::Remote(model) = config.model else { panic!() };
    assert_eq!(model.base_url.as_str(), "https://api.deepseek.com/v1");
    assert_eq!(model.api_key.unwrap().expose(), "sk-x");
}

#[test]
fn the_environment_wins_over_the_file() {
    let config =
        load_with("model = \"offline\"\nlisten = \"127.0.0.1:1\"", &[("BA_LISTEN", "localhost:9000")])
            .unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:9000");
}

#[test]
fn mistakes_name_what_to_do() {
    assert!(message(load_with("", &[("BA_MODEL", "openai:gpt-5")])).contains("OPENAI_API_KEY"));
    assert!(message(load_with("", &[("BA_MODEL", "gpt-5")])).contains("provider:model"));
    assert!(message(load_with("", &[("BA_MODEL", "nobody:x")])).contains("openai-compatible"));
    assert!(message(load_with("", &[("BA_MODEL", "openai-compatible:x")])).contains("BA_BASE_URL"));
    assert!(message(load_with("\nmodl = \"x\"", &[])).contains("line 2"));
    assert!(message(load_with("listen = \"here\"", &[])).contains("127.0.0.1:8000"));
    assert!(message(load_with("[connections.\"a b\"]\nurl = \"x:y\"", &[])).contains("connections.a b"));
}

#[test]
fn a_connection_may_have_a_zone() {
    let given = |zone: &str| load_with(&format!("[connections.erp]\nurl = \"postgres://h/d\"\n{zone}"), &[]);
    assert_eq!(given("").unwrap().connections[0].timezone, None);
    let zone = given("timezone = \"Asia/Shanghai\"").unwrap().connections[0].timezone.clone();
    assert_eq!(zone.as_deref(), Some("Asia/Shanghai"));
    assert!(message(given("timezone = \"x'; DROP\"")).contains("connections.erp"));
    assert!(message(given("dialect = \"spark\"")).contains("only for grpc"));
    let lake = |path: &str| {
        load_with(&format!("[engine]\nurl = \"grpc://h:1\"\n[lake.events]\npath = \"{path}\""), &[])
    };
    let engine = lake("s3://bucket/events/").unwrap().engine.unwrap();
    assert_eq!((engine.lakes[0].name.as_str(), engine.timeout_seconds), ("events", 120));
    assert_eq!(engine.uploads_mb, 256);
    assert!(message(lake("/etc")).contains("s3://bucket"));
    assert!(message(lake("s3://b/x` y")).contains("s3://bucket"));
    assert!(message(load_with("[lake.a]\npath = \"s3://b/a\"", &[])).contains("configure [engine]"));
    assert!(message(load_with("[engine]\nurl = \"http://h\"", &[])).contains("grpc"));
    let flight = |dialect: &str| load_with(&format!("[connections.l]\nurl = \"grpc://h:1\"\n{dialect}"), &[]);
    assert!(message(flight("")).contains("needs dialect"));
    assert!(message(flight("dialect = \"cobol\"")).contains("must be spark"));
    assert_eq!(flight("dialect = \"spark\"").unwrap().connections[0].dialect.as_deref(), Some("spark"));
}

#[test]
fn secrets_are_in_no_message_and_no_debug_output() {
    let config = load_with(
        "model = \"openai:gpt-5\"\napi_key = \"sk-topsecret\"\n[connections.erp]\nurl = \"postgres://u:topsecret@h/d\"",
        &[],
    )
    .unwrap();
    assert!(!format!("{config:?}").contains("topsecret"));
    assert_eq!(config.secrets().len(), 2);
    let broken = message(load_with("api_key = \"sk-topsecret\" oops", &[]));
    assert!(!broken.contains("topsecret"), "{broken}");
}

#[test]
fn figures_are_gated_unless_said_otherwise() {
    use ba_protocol::audit::AuditMode;
    let config = load_with("", &[]).unwrap();
    assert_eq!((config.audit, config.openai_footnotes, config.witness), (AuditMode::Gate, true, true));
    assert!(!load_with("witness = false", &[]).unwrap().witness);
    let config = load_with("audit = \"off\"\nopenai_footnotes = false", &[("BA_AUDIT", "mark")]).unwrap();
    assert_eq!((config.audit, config.openai_footnotes), (AuditMode::Mark, false));
    assert!(message(load_with("audit = \"maybe\"", &[])).contains("gate, mark and off"));
}

#[test]
fn a_summary_model_of_the_same_provider_shares_the_key() {
    let config =
        load_with("model = \"openai:gpt-5\"\napi_key = \"k1\"\nsummary_model = \"openai:gpt-5-mini\"", &[])
            .unwrap();
    let Some(ModelChoice::Remote(summary)) = config.summary_model else { panic!() };
    assert_eq!(summary.api_key.unwrap().expose(), "k1");
}

#[test]
fn the_web_is_on_within_limits_and_its_lists_are_checked() {
    let web = load_with("", &[]).unwrap().web;
    assert!(web.enabled && web.robots && web.private_addresses.is_empty());
    assert_eq!((web.ports, web.body_mb, web.timeout_seconds), (vec![80, 443], 10, 30));

    let given = "[web]\nenabled = false\nallow_domains = [\"*.Example.org.\", \"例子.中国\"]\n\
                 private_addresses = [\"10.1.2.3\"]\nports = [443]\nbody_mb = 9999";
    let web = load_with(given, &[]).unwrap().web;
    assert_eq!(web.allow_domains, ["example.org", "xn--fsqu00a.xn--fiqs8s"]);
    assert_eq!((web.enabled, web.body_mb, web.private_addresses.len()), (false, 1024, 1));

    for (wrong, said) in [
        ("deny_domains = [\"http://x/\"]", "web.deny_domains"),
        ("private_addresses = [\"10.0.0.0/8\"]", "web.private_addresses"),
        ("ports = []", "web.ports"),
        ("user_agent = \"a\\nb: c\"", "web.user_agent"),
        ("proxy = \"http://x\"", "proxy"),
    ] {
        let message = message(load_with(&format!("[web]\n{wrong}"), &[]));
        assert!(message.contains(said), "{message}");
    }
}

// SPEC W6: several models, by names of their own, for questions, summaries and as the default.
#[test]
fn several_models_have_names() {
    let given = "model = \"big\"\nsummary_model = \"small\"\nstream_idle = 90\n\
                 [models.big]\nmodel = \"openai:gpt-5\"\napi_key = \"k-big\"\nwindow = 9000\ntimeout = 900\n\
                 [models.small]\nmodel = \"ollama:qwen3\"\nstream_idle = 30\n";
    let config = load_with(given, &[]).unwrap();
    let names: Vec<&str> = config.models.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["big", "small"]);
    let ModelChoice::Remote(big) = &config.model else { panic!() };
    assert_eq!((big.window, big.timeout_seconds, big.idle_seconds), (Some(9000), 900, 90));
    let Some(ModelChoice::Remote(small)) = &config.summary_model else { panic!() };
    assert_eq!((small.provider.as_str(), small.idle_seconds, small.api_key.is_none()), ("ollama", 30, true));
    assert!(config.secrets().contains(&"k-big".to_owned()));
    assert!(message(load_with("[models.\"a b\"]\nmodel = \"offline\"", &[])).contains("models.a b"));
    assert!(message(load_with("[models.x]\nmodel = \"nobody:y\"", &[])).contains("models.x"));
}

// The key of one provider is not sent to the address of another.
#[test]
fn a_key_stays_with_its_provider() {
    let given = "model = \"openai:gpt-5\"\napi_key = \"k1\"\n[models.mini]\nmodel = \"openai:gpt-5-mini\"\n\
                 [models.local]\nmodel = \"openai-compatible:q\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\
                 [models.proxied]\nmodel = \"openai:gpt-5\"\nbase_url = \"http://127.0.0.1:2/v1\"";
    let config = load_with(given, &[]).unwrap();
    let key = |name: &str| {
        let found = config.models.iter().find(|m| m.name == name).unwrap();
        let ModelChoice::Remote(remote) = &found.choice else { panic!() };
        remote.api_key.as_ref().map(|k| k.expose().to_owned())
    };
    assert_eq!((key("mini").as_deref(), key("local"), key("proxied")), (Some("k1"), None, None));
}

#[test]
fn a_key_goes_to_every_model_at_its_own_address() {
    let given = "model = \"openai-compatible:a\"\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key = \"k1\"\n\
                 [models.small]\nmodel = \"openai-compatible:b\"\nbase_url = \"http://127.0.0.1:1/v1\"";
    let config = load_with(given, &[]).unwrap();
    let ModelChoice::Remote(small) = &config.models[0].choice else { panic!() };
    assert_eq!(small.api_key.as_ref().map(|k| k.expose()), Some("k1"));
}

// The longest silence is no shorter than the whole answer may take, unless someone says so.
#[test]
fn the_idle_limit_does_not_undercut_the_time_of_an_answer() {
    let config = load_with("model = \"ollama:q\"", &[]).unwrap();
    let ModelChoice::Remote(model) = config.model else { panic!() };
    assert_eq!((model.timeout_seconds, model.idle_seconds), (300, 300));
}

/// Every name that a file may hold is in the documentation.
#[test]
fn every_key_is_documented() {
    let document = include_str!("../../../docs/configuration.md");
    let web = include_str!("../../../docs/web.md");
    let sources = [include_str!("raw.rs"), include_str!("web.rs")];
    let fields = sources.iter().flat_map(|source| {
        let parts = source.split("pub(crate) struct Raw").skip(1);
        parts.flat_map(|part| part.split("\n}").next().unwrap_or_default().lines())
    });
    let names =
        fields.filter_map(|line| line.trim().strip_prefix("pub ")?.split_once(':').map(|(name, _)| name));
    let missing: Vec<&str> = names.filter(|name| !document.contains(name) && !web.contains(name)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn retention_is_a_number_of_days() {
    assert_eq!(load_with("", &[]).unwrap().retention_days, None);
    assert_eq!(load_with("retention_days = 90", &[]).unwrap().retention_days, Some(90));
    assert_eq!(
        load_with("retention_days = 90", &[("BA_RETENTION_DAYS", "7")]).unwrap().retention_days,
        Some(7)
    );
    assert!(message(load_with("retention_days = 0", &[])).contains("leave it out"));
    assert!(message(load_with("", &[("BA_RETENTION_DAYS", "soon")])).contains("number of days"));
}

// SPEC I2
#[test]
fn programs_whose_tools_may_be_called_are_named_with_their_tools() {
    let file = "[mcp.crm]\ncommand = \"uvx\"\nargs = [\"crm\"]\nenv = { TOKEN = \"t0p\" }\ntools = [\"find\"]\nwrites = [\"create\"]";
    let config = load_with(file, &[("PATH", "/bin"), ("BA_API_KEY", "k")]).unwrap();
    let McpReach::Command { environment, .. } = &config.mcp[0].reach else { panic!() };
    let passed: Vec<&str> = environment.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(passed, ["PATH", "TOKEN"], "no key of ours goes to another program");
    assert!(config.secrets().contains(&"t0p".to_owned()) && !config.secrets().contains(&"/bin".to_owned()));
    for (file, said) in [
        ("[mcp.crm]\ncommand = \"x\"", "name the tools"),
        ("[mcp.crm]\ntools = [\"a\"]", "one of `command` and `url`"),
        ("[mcp.\"a.b\"]\ncommand = \"x\"\ntools = [\"a\"]", "letters, digits"),
        ("[mcp.crm]\nurl = \"nonsense\"\ntools = [\"a\"]", "mcp.crm.url"),
    ] {
        assert!(message(load_with(file, &[])).contains(said), "{file}");
    }
}

#[test]
fn share_links_are_off_until_they_are_allowed() {
    assert_eq!(load_with("", &[]).unwrap().server.share_days, None);
    assert_eq!(load_with("[server]\nshare_days = 5", &[]).unwrap().server.share_days, None);
    let allowed = load_with("[server]\nshare_links = true", &[]).unwrap();
    assert_eq!(allowed.server.share_days, Some(30));
    let fewer = load_with("[server]\nshare_days = 5", &[("BA_SHARE_LINKS", "true")]).unwrap();
    assert_eq!(fewer.server.share_days, Some(5));
    let off = load_with("[server]\nshare_links = true", &[("BA_SHARE_LINKS", "false")]).unwrap();
    assert_eq!(off.server.share_days, None);
    assert!(message(load_with("", &[("BA_SHARE_LINKS", "perhaps")])).contains("neither true nor false"));
    assert!(message(load_with("[server]\nshare_days = 0", &[])).contains("1 to 3650"));
}
