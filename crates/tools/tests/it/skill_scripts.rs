//! The shipped skills' scripts: against known answers, and in the real sandbox as a run gives them to `run_python`,
//! read-only and with the import list on (SPEC S6, T1).

use std::path::{Path, PathBuf};
use std::time::Duration;

use ba_sandbox::{
    Input, Job, Limits, PrepareOptions, PythonEnv, Sandbox, SandboxConfig, SessionKey, Work, prepare_python,
};
use ba_skills::levels::sandbox_path;
use ba_skills::{Skill, Source};

/// One call per script, and what it must say.
const CALLS: [(&str, &str, &str); 12] = [
    ("trend-growth", "print(round(s.cagr(100, 161.051, 5), 6))", "0.1"),
    ("anomaly-detection", "print(s.iqr_fences([1, 2, 3, 4, 5, 6, 7, 8, 9])[1])", "13.0"),
    (
        "change-attribution",
        "print(round(s.multiplicative({'a': 2, 'b': 5}, {'a': 4, 'b': 5})[1]['变化']))",
        "10",
    ),
    ("cohort-retention", "print(s.kaplan_meier([6, 7], [True, False])['存活率'].iloc[0])", "0.5"),
    ("funnel-analysis", "print(s.sample_size(0.10, 0.12))", "3841"),
    ("rfm-customer-value", "print(round(s.simple_clv(1, 0.8, 0.1), 4))", "2.6667"),
    ("pareto-abc", "print(round(s.hhi([30, 30, 20, 20])))", "2600"),
    (
        "forecasting",
        "print(s.ets([1.0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 2)['预测'].notna().all())",
        "True",
    ),
    ("financial-ratios", "print(s.break_even(50000, 50, 30)['销量'])", "2500.0"),
    ("data-quality-report", "print(s.as_number('(300)'))", "-300.0"),
    ("echarts-design", "print(s.check(s.bar('t', ['a'], {'v': [1]})))", "[]"),
    ("executive-report", "print(s.untraced('收入 1.23亿', [123456789.0]))", "[]"),
];

fn cache() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    base.unwrap_or_else(std::env::temp_dir).join("ba-agent")
}

fn skill(name: &str) -> Skill {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills").join(name);
    Skill::load(&dir.canonicalize().unwrap(), Source::Shipped, &Default::default()).unwrap()
}

async fn locked_python() -> PythonEnv {
    let env_override = std::env::var_os("BA_PYTHON_ENV").map(PathBuf::from);
    let options = PrepareOptions { cache: cache(), env_override, python: None };
    prepare_python(&options, &|_| {}).await.unwrap()
}

/// `skills/tests`: textbook figures, and the same computed by statsmodels and scipy.
#[tokio::test]
async fn every_shipped_script_gives_the_known_answers() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills/tests");
    let ran = tokio::process::Command::new(locked_python().await.python)
        .args(["-B", "-m", "unittest", "discover"])
        .current_dir(tests)
        .env("OMP_NUM_THREADS", "1")
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    let count = said.split("Ran ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok());
    assert!(count.is_some_and(|n| n >= 12) && !said.contains("skipped"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_shipped_script_runs_in_the_sandbox_and_cannot_be_changed() {
    let python = locked_python().await;
    let scratch = tempfile::tempdir().unwrap();
    let config = SandboxConfig { pool: 1, ..SandboxConfig::new(python, scratch.path()) };
    let sandbox = Sandbox::start(config).await.unwrap();
    let work = tempfile::tempdir().unwrap();
    for (name, call, expected) in CALLS {
        let skill = skill(name);
        let names: Vec<(String, PathBuf)> =
            skill.scripts().map(|(path, place)| (sandbox_path(&skill, path), place)).collect();
        let [(file, _)] = names.as_slice() else { panic!("{name} has one script") };
        let code = format!(
            "s = skill('{file}')\n{call}\n\
             try:\n    open('{file}', 'a')\n    print('written')\nexcept OSError:\n    print('read-only')"
        );
        let job = Job {
            owner: "tester".into(),
            session: Some(SessionKey::new("skills")),
            work: Work::UserCode { code },
            inputs: names.iter().map(|(n, p)| Input { names: vec![n.clone()], path: p.clone() }).collect(),
            folder: work.path().join("work"),
            limits: Limits { wall: Duration::from_secs(120), ..Limits::default() },
        };
        let outcome = sandbox.run(job, &|_| {}).await.unwrap();
        let said: String = outcome.output.iter().map(|c| c.text.as_str()).collect();
        assert!(outcome.error.is_none(), "{name}: {:?}", outcome.error);
        assert_eq!(said, format!("{expected}\nread-only\n"), "{name}");
        assert!(outcome.files.is_empty(), "{name}: a skill's file is not an artifact: {:?}", outcome.files);
    }
}

#[test]
fn shipped_instructions_are_shown_whole_and_their_list_fits() {
    for model in ["openai:gpt-4o", "openai:gpt-4", "anthropic:claude-sonnet-4"] {
        let counter = ba_model::TokenCounter::for_model(model);
        let count = |text: &str| counter.count(text);
        let skills: Vec<_> = CALLS.iter().map(|(name, ..)| std::sync::Arc::new(skill(name))).collect();
        for skill in &skills {
            let text = ba_skills::levels::instructions(skill, 3_500, &count);
            assert!(
                !text.contains("省略"),
                "{} does not fit for {model}: {}",
                skill.name,
                count(&skill.body)
            );
            assert!(count(&text) < 3_900, "{} fills an observation for {model}", skill.name);
        }
        let list = ba_skills::levels::list(&skills, "", ba_skills::levels::LIST_BUDGET, &count);
        assert!(!list.ranked && list.left_out == 0, "{model}: {} tokens", list.tokens);
        assert!(!list.text.contains('…'), "{model}: descriptions were shortened");
    }
}
