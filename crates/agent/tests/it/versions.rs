//! A question asked again sees what was before its turn, and later questions see the version that counts.

use ba_model::ScriptedModel;
use ba_protocol::api::QueryRequest;

use crate::bench::{Bench, complete, query};

#[tokio::test]
async fn the_model_sees_only_the_version_that_counts() {
    let replies = ["first answer", "second answer", "other answer", "third answer", "fourth answer"];
    let bench = Bench::new(ScriptedModel::new(replies.map(complete))).await;
    let first = bench.ask("question one", None).await;
    let conversation = first.conversation_id.clone();
    bench.agent.wait(&bench.owner, &first.run_id).await.unwrap();
    let second = bench.ask("question two", Some(&conversation)).await;
    bench.agent.wait(&bench.owner, &second.run_id).await.unwrap();

    let again =
        QueryRequest { replaces: Some(first.run_id.clone()), ..query("edited one", Some(&conversation)) };
    let again = bench.agent.admit(&bench.owner, again).await.unwrap();
    bench.agent.wait(&bench.owner, &again.run_id).await.unwrap();
    let sent = bench.model.requests().pop().unwrap();
    let seen: String = sent.messages.iter().map(|m| m.wire_text()).collect();
    assert!(seen.contains("edited one"));
    assert!(
        !seen.contains("question one") && !seen.contains("second answer"),
        "it stands at the first turn: {seen}"
    );

    let ask = async |message: &str| {
        let next = bench.ask(message, Some(&conversation)).await;
        bench.agent.wait(&bench.owner, &next.run_id).await.unwrap();
        let sent = bench.model.requests().pop().unwrap();
        sent.messages.iter().map(|m| m.wire_text()).collect::<String>()
    };
    let seen = ask("question three").await;
    assert!(seen.contains("edited one") && seen.contains("other answer") && seen.contains("second answer"));
    assert!(!seen.contains("first answer"), "{seen}");
    assert!(seen.find("other answer") < seen.find("second answer"), "in the turn's place");

    bench.store.choose_version(&bench.owner, &first.run_id).await.unwrap();
    let seen = ask("question four").await;
    assert!(seen.contains("first answer") && !seen.contains("other answer"), "{seen}");
}
