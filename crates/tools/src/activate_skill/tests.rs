//! What the model hears from `activate_skill`.

use ba_agent::tool::Body;
use ba_protocol::{ConversationId, RunId, UserId};
use ba_skills::library::LibraryConfig;
use ba_skills::{Limits, SkillName, SkillState};

use super::*;

struct Place {
    tool: ActivateSkill,
    _dir: tempfile::TempDir,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    for (name, front) in [
        ("alpha", "allowed-tools: run_python"),
        ("beta", "license: x"),
        ("gamma", ""),
        ("delta", ""),
        ("hidden", "disable-model-invocation: true"),
    ] {
        let folder = dir.path().join("shipped").join(name);
        std::fs::create_dir_all(folder.join("references")).unwrap();
        let text =
            format!("---\nname: {name}\ndescription: About {name}\n{front}\n---\n# {name}\nsee beta\n");
        std::fs::write(folder.join("SKILL.md"), text).unwrap();
        std::fs::write(folder.join("references/more.md"), "more").unwrap();
    }
    let config = LibraryConfig {
        shipped: Some(dir.path().join("shipped")),
        data_dir: dir.path().join("data"),
        folders: vec![],
        limits: Limits::default(),
    };
    let library = Arc::new(SkillLibrary::open(config).unwrap());
    Place { tool: ActivateSkill::new(library, Arc::new(|t: &str| t.split_whitespace().count())), _dir: dir }
}

fn context(active: &[&str]) -> ToolContext {
    let mut skills = SkillState::default();
    for name in active {
        let request = skills.request(SkillName::parse(name).unwrap(), *name, LoadLevel::Instructions);
        skills.assume(&request).unwrap();
    }
    ToolContext {
        skills,
        ..ToolContext::new(UserId::local(), ConversationId::random(), RunId::random(), "call_9")
    }
}

async fn call(
    ctx: &ToolContext,
    skill_name: &str,
    resource: Option<&str>,
) -> Result<ToolOutput, ToolFailure> {
    let args = ActivateSkillArgs { skill_name: skill_name.into(), resource: resource.map(Into::into) };
    place().tool.run(ctx, args).await.map_err(ToolError::told)
}

fn text(output: &ToolOutput) -> &str {
    match &output.body {
        Body::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_skill_is_activated_with_its_instructions_and_files() {
    let output = call(&context(&[]), "alpha", None).await.unwrap();
    assert_eq!(output.summary, "skill `alpha` activated");
    assert!(text(&output).contains("# alpha") && text(&output).contains("references/more.md"));
    assert_eq!(output.notes, ["激活期间只可使用：run_python, activate_skill"]);
    let nested = call(&context(&["alpha"]), "beta", None).await.unwrap();
    assert_eq!(nested.summary, "skill `beta` activated inside alpha");
}

#[tokio::test]
async fn one_file_is_read_on_demand() {
    let output = call(&context(&[]), "beta", Some("references/more.md")).await.unwrap();
    assert!(text(&output).contains("\nmore\n"));
    let missing = call(&context(&[]), "beta", Some("../../etc/passwd")).await.unwrap_err();
    assert_eq!(missing.code, "SKILL_RESOURCE_NOT_FOUND");
    assert!(missing.message.contains("references/more.md"), "{}", missing.message);
}

#[tokio::test]
async fn cycles_depth_and_strangers_are_refused_in_words() {
    let cycle = call(&context(&["alpha", "beta"]), "alpha", None).await.unwrap_err();
    assert_eq!(
        (cycle.code.as_str(), cycle.message.as_str()),
        ("SKILL_CYCLE", "skill cycle refused: alpha → beta → alpha; `alpha` is already active")
    );
    let deep = call(&context(&["alpha", "beta", "gamma"]), "delta", None).await.unwrap_err();
    assert_eq!(deep.code, "SKILL_TOO_DEEP");
    for name in ["nothing", "hidden", "../alpha", ""] {
        let unknown = call(&context(&[]), name, None).await.unwrap_err();
        assert_eq!(unknown.code, "SKILL_NOT_FOUND", "{name}");
        assert!(unknown.message.ends_with("available: alpha, beta, delta, gamma"), "{}", unknown.message);
    }
}

#[tokio::test]
async fn the_innermost_skill_ends_on_done() {
    let output = call(&context(&["alpha", "beta"]), "done", None).await.unwrap();
    assert_eq!((output.summary.as_str(), text(&output)), ("skill `beta` ended", "仍在：alpha"));
    assert_eq!(call(&context(&[]), "done", None).await.unwrap_err().code, "SKILL_NOT_ACTIVE");
}

#[tokio::test]
async fn instructions_are_never_cut_to_a_summary() {
    let ctx = ToolContext { level: OutputLevel::Brief, ..context(&[]) };
    assert_eq!(call(&ctx, "alpha", None).await.unwrap_err().code, "SKILL_NO_ROOM");
}
