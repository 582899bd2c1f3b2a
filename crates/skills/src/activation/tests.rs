//! No cycle is ever accepted, every path unwinds, and nothing is half done.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::front_matter::FrontMatter;
use crate::skill::Source;

fn skill(name: &str, tools: Option<&[&str]>) -> Skill {
    Skill {
        name: SkillName::parse(name).unwrap(),
        front: FrontMatter {
            description: "d".into(),
            allowed_tools: tools.map(|t| t.iter().map(ToString::to_string).collect()),
            ..FrontMatter::default()
        },
        dir: PathBuf::new(),
        source: Source::Shipped,
        body: "b".into(),
        files: vec![],
        hash: format!("blake3:{name}"),
        warnings: vec![],
    }
}

fn try_activate(state: &mut SkillState, name: &str, id: &str) -> Result<(), ActivationError> {
    let skill = skill(name, None);
    state.activate(&state.request(skill.name.clone(), id, LoadLevel::Instructions), &skill)
}

#[test]
fn direct_and_indirect_cycles_are_refused_with_the_chain() {
    let mut state = SkillState::default();
    try_activate(&mut state, "a", "1").unwrap();
    assert_eq!(
        try_activate(&mut state, "a", "2").unwrap_err().to_string(),
        "skill cycle refused: a → a; `a` is already active"
    );
    try_activate(&mut state, "b", "3").unwrap();
    try_activate(&mut state, "c", "4").unwrap();
    let error = try_activate(&mut state, "a", "5").unwrap_err();
    assert_eq!(error.to_string(), "skill cycle refused: a → b → c → a; `a` is already active");
    assert_eq!(error.code(), "SKILL_CYCLE");
    let error = try_activate(&mut state, "d", "6").unwrap_err();
    assert!(error.to_string().contains("at most 3): a → b → c → d"), "{error}");
    assert_eq!(state.spelled(), "a → b → c");
}

#[test]
fn the_same_request_again_is_one_activation_even_after_a_restart() {
    let mut state = SkillState::default();
    let a = skill("a", None);
    let request = state.request(a.name.clone(), "call_1", LoadLevel::Instructions);
    state.activate(&request, &a).unwrap();
    let saved = serde_json::to_string(&state).unwrap();
    let mut resumed: SkillState = serde_json::from_str(&saved).unwrap();
    resumed.activate(&request, &a).unwrap();
    assert_eq!(resumed, state);
    assert_eq!(resumed.frames().len(), 1);
    let wire = serde_json::to_value(&request).unwrap();
    assert_eq!(wire["load_level"], 2);
    assert_eq!(serde_json::from_value::<ActivationRequest>(wire).unwrap(), request);
}

#[test]
fn a_forged_request_cannot_go_deeper_or_hide_the_chain() {
    let mut state = SkillState::default();
    for (name, id) in [("a", "1"), ("b", "2"), ("c", "3")] {
        try_activate(&mut state, name, id).unwrap();
    }
    let d = skill("d", None);
    let mut forged = state.request(d.name.clone(), "4", LoadLevel::Instructions);
    forged.max_depth = 99;
    assert!(matches!(state.activate(&forged, &d), Err(ActivationError::TooDeep { .. })));
    forged.activation_chain.clear();
    forged.activation_depth = 0;
    assert!(matches!(state.activate(&forged, &d), Err(ActivationError::Stale { .. })));
    assert_eq!(state.frames().len(), 3);
}

#[test]
fn writers_at_the_same_time_never_interleave() {
    let state = Arc::new(Mutex::new(SkillState::default()));
    let handles: Vec<_> = (0..8)
        .map(|n| {
            let state = Arc::clone(&state);
            std::thread::spawn(move || {
                let skill = skill(&format!("s{n}"), None);
                // Each asks on what it saw, then applies: only requests made for the present state succeed.
                let request = state.lock().unwrap().request(
                    skill.name.clone(),
                    format!("{n}"),
                    LoadLevel::Instructions,
                );
                std::thread::yield_now();
                state.lock().unwrap().activate(&request, &skill).is_ok()
            })
        })
        .collect();
    let accepted = handles.into_iter().map(|h| h.join().unwrap()).filter(|ok| *ok).count();
    let state = state.lock().unwrap();
    assert_eq!(state.frames().len(), accepted);
    assert!((1..=3).contains(&accepted), "{accepted}");
}

#[test]
fn nothing_ends_when_nothing_is_active() {
    assert_eq!(SkillState::default().pop(), Err(ActivationError::NothingActive));
}

#[derive(Debug, Clone)]
enum Step {
    Activate(u8, u8),
    Pop,
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0u8..6, 0u8..8).prop_map(|(n, t)| Step::Activate(n, t)),
        Just(Step::Pop),
        Just(Step::Restart)
    ];
    prop::collection::vec(step, 0..60)
}

const TOOLS: [&str; 3] = ["run_python", "file_reader", "query_database"];

proptest! {
    #[test]
    fn no_cycle_is_accepted_and_everything_unwinds_exactly(steps in steps()) {
        let base = Base { tools: TOOLS.iter().take(2).map(ToString::to_string).collect(), model: "m".into(), ..Base::default() };
        let mut state = SkillState::default();
        // What held before each push, to compare after its pop.
        let mut before: Vec<Effective> = Vec::new();
        for (id, step) in steps.iter().enumerate() {
            match step {
                Step::Activate(n, mask) => {
                    let tools: Vec<&str> = TOOLS.iter().enumerate().filter(|(i, _)| mask & (1 << i) != 0).map(|(_, t)| *t).collect();
                    let skill = skill(&format!("s{n}"), Some(&tools));
                    let (held, frames) = (state.effective(&base), state.clone());
                    match state.activate(&state.request(skill.name.clone(), id.to_string(), LoadLevel::Instructions), &skill) {
                        Ok(()) => before.push(held),
                        Err(_) => prop_assert_eq!(&state, &frames),
                    }
                }
                Step::Pop => match state.pop() {
                    Ok(_) => prop_assert_eq!(Some(state.effective(&base)), before.pop()),
                    Err(_) => prop_assert!(before.is_empty()),
                },
                Step::Restart => state = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap(),
            }
            let chain = state.chain();
            prop_assert_eq!(chain.iter().collect::<BTreeSet<_>>().len(), chain.len());
            prop_assert!(chain.len() <= MAX_DEPTH as usize);
            prop_assert_eq!(chain.len(), before.len());
            prop_assert!(state.effective(&base).tools.is_subset(&base.tools));
        }
        state.unwind();
        prop_assert_eq!(state.effective(&base), modifiers::effective(&base, []));
    }
}

// Four skills of one turn are four siblings, not a chain of four; a later turn's skill stands inside the newest.
#[test]
fn skills_of_one_turn_stand_beside_each_other() {
    let mut state = SkillState::default();
    state.begin_turn();
    for (name, id) in [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")] {
        try_activate(&mut state, name, id).unwrap();
    }
    assert!(try_activate(&mut state, "a", "5").unwrap_err().to_string().contains("already active"));
    state.end_turn();
    try_activate(&mut state, "e", "6").unwrap();
    let depths: Vec<u32> = state.frames().iter().map(|f| f.depth).collect();
    assert_eq!(depths, [0, 0, 0, 0, 1]);
    assert_eq!(
        state.request(SkillName::parse("f").unwrap(), "7", LoadLevel::Instructions).activation_depth,
        2
    );
    let restored: SkillState = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    assert_eq!(restored, state);
    state.pop().unwrap();
    assert_eq!(state.spelled(), "a → b → c → d");
}

#[test]
fn siblings_share_their_tools_and_nesting_narrows_them() {
    let base = Base {
        tools: ["run_python", "query_database", "web_search"].map(String::from).into(),
        ..Base::default()
    };
    let mut state = SkillState::default();
    state.begin_turn();
    for (name, tools) in [("a", &["run_python"][..]), ("b", &["query_database"])] {
        let skill = skill(name, Some(tools));
        state.activate(&state.request(skill.name.clone(), name, LoadLevel::Instructions), &skill).unwrap();
    }
    state.end_turn();
    let now = state.effective(&base);
    assert!(now.allows("run_python") && now.allows("query_database") && !now.allows("web_search"));
    let inner = skill("c", Some(&["run_python"]));
    state.activate(&state.request(inner.name.clone(), "c", LoadLevel::Instructions), &inner).unwrap();
    let now = state.effective(&base);
    assert!(now.allows("run_python") && !now.allows("query_database"), "c is inside b: {:?}", now.tools);
}
