//! Durable runs (SPEC E13): admission, steps, intents and results, events in order, resuming.

use ba_protocol::api::{ErrorInfo, UsageInfo};
use ba_protocol::{RunEvent, RunId};
use ba_store::{
    EventScope, Holder, LeaseWatch, Limits, RunStatus, StepCommit, StoreError, TelemetryScope, ToolOutcome,
};
use serde_json::json;

use crate::harness::{Fresh, alice, intent, last_step, new_run, on_every_backend, outcome};

fn limits() -> Limits {
    Limits::default()
}

on_every_backend!(
    a_run_from_admission_to_report,
    a_refused_step_leaves_nothing,
    results_are_reused_and_the_call_in_flight_is_known,
    many_conversations_at_once_keep_their_order,
    two_runs_of_one_conversation_share_one_sequence,
    a_reopened_store_shows_what_was_open,
    telemetry_outlives_the_process,
    two_steps_as_one_are_the_two_steps,
    evidence_is_kept_beside_the_calls,
    a_run_is_driven_by_one_holder_and_an_old_one_is_refused,
    a_step_sent_again_is_kept_once,
);

// SPEC N1
async fn a_run_is_driven_by_one_holder_and_an_old_one_is_refused(f: Fresh) {
    let c = f.conversation().await;
    let (first, second) = (Holder::this_process(), Holder::this_process());
    let mut new = new_run(&c, "q");
    new.holder = Some(first.clone());
    f.store.admit(new.clone()).await.unwrap();
    let run = &new.run_id;
    let driven = std::slice::from_ref(run);
    let (mut watch, nobody) = (LeaseWatch::default(), |_: &RunId| false);
    assert!(
        f.store.adopt_runs(&second, &nobody, &mut watch).await.unwrap().is_empty(),
        "the first one lives and holds it"
    );
    assert!(
        f.store.adopt_runs(&first, &|id| id == run, &mut watch).await.unwrap().is_empty(),
        "it drives it itself"
    );

    f.store.release_leases(&first).await.unwrap();
    let adopted = f.store.adopt_runs(&second, &nobody, &mut watch).await.unwrap();
    assert_eq!((adopted.len(), adopted[0].epoch), (1, 2));
    let stale = StepCommit { epoch: 1, ..StepCommit::new(json!({"by": "first"}), RunStatus::Running) };
    let refused = f.store.commit_step(run, stale).await;
    assert!(
        matches!(&refused, Err(StoreError::Conflict(why)) if why.contains("another server")),
        "{refused:?}"
    );
    assert_eq!(f.store.renew_leases(&first, driven).await.unwrap(), *driven, "it hears that it lost it");
    assert!(f.store.renew_leases(&second, driven).await.unwrap().is_empty());
    f.store.release_leases(&first).await.unwrap();
    assert!(
        f.store.adopt_runs(&first, &nobody, &mut watch).await.unwrap().is_empty(),
        "it is no longer its own to give up"
    );

    assert!(f.store.request_cancel(run).await.unwrap());
    assert_eq!(f.store.cancel_requests(&second).await.unwrap(), *driven);
    assert!(f.store.cancel_requests(&first).await.unwrap().is_empty());
    let fresh = StepCommit { epoch: 2, ..StepCommit::new(json!({"by": "second"}), RunStatus::Cancelled) };
    f.store.commit_step(run, fresh).await.unwrap();
    assert!(!f.store.request_cancel(run).await.unwrap(), "it has ended");
    assert!(f.store.adopt_runs(&first, &nobody, &mut watch).await.unwrap().is_empty());
}

// SPEC N1: a commit whose answer was lost on the way is sent again and kept once, also when it was the last.
async fn a_step_sent_again_is_kept_once(f: Fresh) {
    let c = f.conversation().await;
    let new = new_run(&c, "q");
    f.store.admit(new.clone()).await.unwrap();
    let run = &new.run_id;
    let started = RunEvent::ToolStarted {
        tool_call_id: "c".into(),
        tool_name: "t".into(),
        arguments: Default::default(),
        round: 1,
    };
    let first = StepCommit {
        epoch: 1,
        number: 1,
        events: vec![started.clone(), started],
        ..StepCommit::new(json!({}), RunStatus::Running)
    };
    let told = f.store.commit_step(run, first.clone()).await.unwrap();
    assert_eq!(f.store.commit_step(run, first.clone()).await.unwrap(), told);
    let last = StepCommit { epoch: 1, number: 2, ..last_step(&c.id, run, "q", "a") };
    let told = f.store.commit_step(run, last.clone()).await.unwrap();
    assert_eq!(f.store.commit_step(run, last).await.unwrap(), told, "the run has ended by it");
    assert!(
        matches!(f.store.commit_step(run, first).await, Err(StoreError::Conflict(_))),
        "an older one is not"
    );
    let events = f.store.events_after(EventScope::Run(run), 0, 100).await.unwrap();
    assert_eq!(events.len(), 4);
}

async fn evidence_is_kept_beside_the_calls(f: Fresh) {
    let c = f.conversation().await;
    let mut runs = Vec::new();
    for message in ["one", "two"] {
        let new = new_run(&c, message);
        f.store.admit(new.clone()).await.unwrap();
        let mut step = StepCommit::new(json!({}), RunStatus::Complete);
        step.intents = vec![intent(1, "call_1"), intent(1, "call_2")];
        let evidence = Some(format!("{{\"of\":\"{message}\"}}"));
        step.outcomes =
            vec![ToolOutcome { evidence, ..outcome(1, "call_1", "ok") }, outcome(1, "call_2", "ok")];
        f.store.commit_step(&new.run_id, step).await.unwrap();
        runs.insert(0, new.run_id);
    }
    let found = f.store.evidence(&runs, 1000).await.unwrap();
    let named: Vec<_> =
        found.iter().map(|e| (&e.run_id, e.tool_call_id.as_str(), e.evidence.as_str())).collect();
    let of = |message: &str| format!("{{\"of\":\"{message}\"}}");
    assert_eq!(named, [(&runs[0], "call_1", &*of("two")), (&runs[1], "call_1", &*of("one"))]);
    assert_eq!(f.store.evidence(&runs, 15).await.unwrap().len(), 1, "the newest, as far as it fits");
}

async fn a_run_from_admission_to_report(f: Fresh) {
    let c = f.conversation().await;
    let new = new_run(&c, "why?");
    let started = f.store.admit(new.clone()).await.unwrap();
    assert_eq!((started.seq, started.event.name()), (1, "run.started"));

    let mut step = StepCommit::new(json!({"step": 1}), RunStatus::Running);
    step.usage = UsageInfo { input_tokens: 10, output_tokens: 2, cached_tokens: 4, cost: Some(0.5) };
    step.events.push(RunEvent::ToolStarted {
        tool_call_id: "call_1".into(),
        tool_name: "run_python".into(),
        arguments: json!({"code": "1"}).as_object().unwrap().clone(),
        round: 1,
    });
    step.intents.push(intent(1, "call_1"));
    let events = f.store.commit_step(&new.run_id, step.clone()).await.unwrap();
    assert_eq!(events.iter().map(|e| e.seq).collect::<Vec<_>>(), vec![2]);
    let open = f.store.run(&alice(), &new.run_id).await.unwrap();
    assert_eq!((open.state, open.status, open.usage), (json!({"step": 1}), RunStatus::Running, step.usage));

    let done =
        f.store.commit_step(&new.run_id, last_step(&c.id, &new.run_id, "why?", "because")).await.unwrap();
    assert_eq!(done[0].seq, 3);
    assert!(done[0].event.is_last());
    let rounds = f.store.turns(&c.id).await.unwrap();
    assert_eq!(rounds.len(), 1);
    assert_eq!(rounds[0].final_answer.as_deref(), Some("because"));

    let all = f.store.events_after(EventScope::Conversation(&c.id), 0, 100).await.unwrap();
    assert_eq!(all, [vec![started], events, done].concat());
    assert_eq!(f.store.events_after(EventScope::Run(&new.run_id), 2, 100).await.unwrap(), all[2..]);
    assert_eq!(f.store.events_after(EventScope::Conversation(&c.id), 1, 1).await.unwrap(), all[1..2]);
    assert_eq!(f.store.open_runs().await.unwrap(), vec![]);
}

async fn a_refused_step_leaves_nothing(f: Fresh) {
    let c = f.conversation().await;
    let new = new_run(&c, "q");
    f.store.admit(new.clone()).await.unwrap();
    assert!(matches!(f.store.admit(new.clone()).await, Err(StoreError::Conflict(_))), "the same run twice");

    let mut passing = StepCommit::new(json!({"step": 9}), RunStatus::Running);
    passing.events.push(RunEvent::TextDelta { text: "x".into(), round: 1 });
    assert!(matches!(f.store.commit_step(&new.run_id, passing).await, Err(StoreError::Invalid(_))));
    assert_eq!(f.store.run(&alice(), &new.run_id).await.unwrap().state, json!({"step": 0}));

    let mut failed = StepCommit::new(json!({}), RunStatus::Failed);
    failed.events.push(RunEvent::RunFailed { error: ErrorInfo::new("model_error", "no answer") });
    f.store.commit_step(&new.run_id, failed.clone()).await.unwrap();
    let before = f.store.events_after(EventScope::Conversation(&c.id), 0, 100).await.unwrap();
    assert!(matches!(f.store.commit_step(&new.run_id, failed).await, Err(StoreError::Conflict(_))));
    let late = f.store.record_intents(&new.run_id, vec![intent(1, "late")]).await;
    assert!(matches!(late, Err(StoreError::Conflict(_))));
    let late = f.store.record_results(&new.run_id, vec![outcome(1, "late", "x")]).await;
    assert!(matches!(late, Err(StoreError::Conflict(_))));
    let unknown = ba_protocol::RunId::random();
    let missing = f.store.commit_step(&unknown, StepCommit::new(json!({}), RunStatus::Running)).await;
    assert!(missing.unwrap_err().is_not_found());
    // Numbers taken by a refused transaction are given back: the sequence has no hole.
    assert_eq!(f.store.events_after(EventScope::Conversation(&c.id), 0, 100).await.unwrap(), before);
    let next = f.store.admit(new_run(&c, "next")).await.unwrap();
    assert_eq!(next.seq, before.len() as u64 + 1);
}

async fn results_are_reused_and_the_call_in_flight_is_known(f: Fresh) {
    let c = f.conversation().await;
    let run = new_run(&c, "q").run_id;
    let mut new = new_run(&c, "q");
    new.run_id = run.clone();
    f.store.admit(new).await.unwrap();
    f.store.record_intents(&run, vec![intent(1, "call_2"), intent(1, "call_1")]).await.unwrap();
    f.store.record_results(&run, vec![outcome(1, "call_1", "first")]).await.unwrap();
    f.store.record_results(&run, vec![outcome(1, "call_1", "second")]).await.unwrap();
    // The same id in a later turn is another call; one answered without running needs no intent.
    f.store.record_intents(&run, vec![intent(2, "call_1")]).await.unwrap();
    f.store.record_results(&run, vec![outcome(2, "cached", "from cache")]).await.unwrap();
    f.store.record_intents(&run, vec![intent(1, "call_1")]).await.unwrap();
    let calls = f.store.calls(&run).await.unwrap();
    let seen: Vec<_> = calls
        .iter()
        .map(|c| {
            (c.intent.step, c.intent.tool_call_id.as_str(), c.result.as_ref().map(|r| r.observation.as_str()))
        })
        .collect();
    assert_eq!(
        seen,
        vec![
            (1, "call_2", None),
            (1, "call_1", Some("first")),
            (2, "cached", Some("from cache")),
            (2, "call_1", None)
        ]
    );
    assert_eq!(calls[0].intent, intent(1, "call_2"));
}

async fn many_conversations_at_once_keep_their_order(f: Fresh) {
    let tasks = (0..24).map(|n| {
        let store = f.store.clone();
        tokio::spawn(async move {
            let c = store.create(&alice(), &format!("c{n}")).await.unwrap();
            for turn in 0..3 {
                let new = new_run(&c, &format!("turn {turn}"));
                store.admit(new.clone()).await.unwrap();
                for s in 0..3 {
                    let mut step = StepCommit::new(json!({"s": s}), RunStatus::Running);
                    step.intents.push(intent(s, "call_1"));
                    step.events.push(RunEvent::ToolStarted {
                        tool_call_id: "call_1".into(),
                        tool_name: "t".into(),
                        arguments: serde_json::Map::new(),
                        round: s,
                    });
                    store.commit_step(&new.run_id, step).await.unwrap();
                }
                store.commit_step(&new.run_id, last_step(&c.id, &new.run_id, "m", "a")).await.unwrap();
            }
            c
        })
    });
    for done in futures::future::join_all(tasks).await {
        let c = done.unwrap();
        let events = f.store.events_after(EventScope::Conversation(&c.id), 0, 100).await.unwrap();
        assert_eq!(events.iter().map(|e| e.seq).collect::<Vec<_>>(), (1..=15).collect::<Vec<u64>>());
        assert_eq!(f.store.turns(&c.id).await.unwrap().len(), 3);
    }
}

async fn two_runs_of_one_conversation_share_one_sequence(f: Fresh) {
    let c = f.conversation().await;
    let tasks = (0..8).map(|n| {
        let (store, c) = (f.store.clone(), c.clone());
        tokio::spawn(async move {
            let new = new_run(&c, &format!("m{n}"));
            store.admit(new.clone()).await.unwrap();
            store.commit_step(&new.run_id, last_step(&c.id, &new.run_id, "m", "a")).await.unwrap();
        })
    });
    for done in futures::future::join_all(tasks).await {
        done.unwrap();
    }
    let events = f.store.events_after(EventScope::Conversation(&c.id), 0, 100).await.unwrap();
    assert_eq!(events.iter().map(|e| e.seq).collect::<Vec<_>>(), (1..=16).collect::<Vec<u64>>());
}

async fn a_reopened_store_shows_what_was_open(f: Fresh) {
    let c = f.conversation().await;
    let (first, second) = (new_run(&c, "one"), new_run(&c, "two"));
    f.store.admit(first.clone()).await.unwrap();
    f.store.admit(second.clone()).await.unwrap();
    f.store.commit_step(&first.run_id, last_step(&c.id, &first.run_id, "one", "a")).await.unwrap();
    let again = f.another().await;
    let open = again.open_runs().await.unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!((&open[0].id, &open[0].owner, open[0].message.as_str()), (&second.run_id, &alice(), "two"));
    assert_eq!(again.integrity().await.unwrap(), Vec::<String>::new());
}

async fn telemetry_outlives_the_process(f: Fresh) {
    let c = f.conversation().await;
    let new = new_run(&c, "q");
    f.store.admit(new.clone()).await.unwrap();
    let mut measured = outcome(1, "call_1", "x");
    measured.telemetry = Some(
        serde_json::from_value(json!({
            "tool_name": "run_python", "tool_version": "1", "execution_id": "00000000-0000-0000-0000-000000000001",
            "timestamp": "2026-01-01T00:00:00Z", "latency_ms": 1.5, "duration_ms": 2.5, "input_tokens": 1,
            "output_tokens": 2, "total_tokens": 3, "cache_hit": false, "success": true, "retry_count": 0,
            "memory_mb": 1.0, "cpu_percent": 2.0
        }))
        .unwrap(),
    );
    f.store
        .record_results(&new.run_id, vec![measured.clone(), outcome(1, "call_2", "unmeasured")])
        .await
        .unwrap();
    let again = f.another().await;
    for scope in
        [TelemetryScope::All, TelemetryScope::Conversation(&c.id), TelemetryScope::Since(c.created_at)]
    {
        let rows = again.telemetry(scope, 10).await.unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(Some(&rows[0].telemetry), measured.telemetry.as_ref());
    }
    let later = jiff::Timestamp::now();
    assert_eq!(again.telemetry(TelemetryScope::Since(later), 10).await.unwrap(), vec![]);
}

async fn two_steps_as_one_are_the_two_steps(f: Fresh) {
    let c = f.conversation().await;
    let new = new_run(&c, "why?");
    f.store.admit(new.clone()).await.unwrap();
    let asked = StepCommit {
        events: vec![RunEvent::ToolStarted {
            tool_call_id: "call_1".into(),
            tool_name: "run_python".into(),
            arguments: Default::default(),
            round: 1,
        }],
        intents: vec![intent(1, "call_1")],
        ..StepCommit::new(json!({"step": 1}), RunStatus::Running)
    };
    let answered = StepCommit {
        outcomes: vec![outcome(1, "call_1", "done")],
        ..StepCommit::new(json!({"step": 2}), RunStatus::Running)
    };
    let both = asked.and_then(answered).and_then(last_step(&c.id, &new.run_id, "why?", "because"));
    let events = f.store.commit_step(&new.run_id, both).await.unwrap();
    assert_eq!(events.iter().map(|e| e.seq).collect::<Vec<_>>(), [2, 3]);
    assert!(events[1].event.is_last());
    let calls = f.store.calls(&new.run_id).await.unwrap();
    assert_eq!((calls.len(), calls[0].result.is_some()), (1, true));
    assert_eq!(f.store.turns(&c.id).await.unwrap().len(), 1);
    assert_eq!(f.store.open_runs().await.unwrap(), vec![]);
}
