//! Versions of a turn, feedback, and counters that come from the store.

use serde_json::{Value, json};

use crate::kit::{Answer, App};

async fn ask(app: &App, body: Value) -> Value {
    let answer = app.post("/agent/query", body).await;
    assert_eq!(answer.status, 200, "{:?}", answer.body);
    answer.body["data"].clone()
}

async fn rounds(app: &App, id: &Value) -> Vec<Value> {
    let detail = app.get(&format!("/conversations/{}", id.as_str().unwrap())).await;
    detail.body["data"]["rounds"].as_array().unwrap().clone()
}

#[tokio::test]
async fn an_edited_question_is_another_version_of_its_turn() {
    let app = App::start().await;
    let first = app.ask("one").await;
    let id = &first["conversation_id"];
    let edited =
        ask(&app, json!({"message": "uno", "conversation_id": id, "replaces": first["run_id"]})).await;
    let listed = rounds(&app, id).await;
    let seen: Vec<_> = listed.iter().map(|r| (&r["user_message"], &r["turn_id"], &r["chosen"])).collect();
    let turn = &first["run_id"];
    assert_eq!(seen, [(&json!("one"), turn, &json!(false)), (&json!("uno"), turn, &json!(true))]);

    let run = first["run_id"].as_str().unwrap();
    assert_eq!(app.post(&format!("/runs/{run}/choose"), json!({})).await.body["data"]["turn_id"], *turn);
    let chosen: Vec<Value> = rounds(&app, id).await.iter().map(|r| r["chosen"].clone()).collect();
    assert_eq!(chosen, [true, false]);

    let elsewhere = app.ask("other").await;
    for (body, status) in [
        (json!({"message": "x", "replaces": run}), 400),
        (json!({"message": "x", "conversation_id": elsewhere["conversation_id"], "replaces": run}), 404),
        (json!({"message": "x", "conversation_id": id, "replaces": "run_0000000000000000"}), 404),
        (json!({"message": "x", "conversation_id": id, "replaces": "nonsense"}), 400),
    ] {
        let refused = app.post("/agent/query", body.clone()).await;
        assert_eq!(refused.status, status, "{body} {:?}", refused.body);
    }
    assert_eq!(edited["conversation_id"], *id);
}

#[tokio::test]
async fn a_turn_that_is_being_answered_is_not_asked_again() {
    let app = App::start().await;
    let body = json!({"message": "never answer"});
    let stream = app.client.post(app.api("/agent/query/stream")).json(&body).send().await.unwrap();
    let run = stream.headers()["x-run-id"].to_str().unwrap().to_owned();
    let id = stream.headers()["x-conversation-id"].to_str().unwrap().to_owned();
    let again = json!({"message": "x", "conversation_id": id, "replaces": run});
    let refused = app.post("/agent/query", again).await;
    assert_eq!((refused.status, refused.code()), (409, "conflict"));
    app.post(&format!("/runs/{run}/cancel"), json!({})).await;
}

#[tokio::test]
async fn feedback_is_shown_with_its_answer() {
    let app = App::start().await;
    let answer = app.ask("one").await;
    let (id, run) = (&answer["conversation_id"], answer["run_id"].as_str().unwrap());
    let url = app.api(&format!("/runs/{run}/feedback"));
    let give = async |body: Value| Answer::of(app.client.put(&url).json(&body).send().await.unwrap()).await;
    assert_eq!(give(json!({"rating": "up"})).await.status, 200);
    assert_eq!(give(json!({"rating": "down", "reason": "wrong year"})).await.status, 200);
    let shown = rounds(&app, id).await[0]["feedback"].clone();
    assert_eq!((&shown["rating"], &shown["reason"]), (&json!("down"), &json!("wrong year")));
    for bad in [json!({}), json!({"rating": "meh"}), json!({"rating": "up", "reason": "x".repeat(2001)})] {
        assert_eq!(give(bad.clone()).await.status, 400, "{bad}");
    }
    assert_eq!(app.client.delete(&url).send().await.unwrap().status(), 200);
    assert_eq!(rounds(&app, id).await[0]["feedback"], Value::Null);
    let missing = app.api("/runs/run_0000000000000000/feedback");
    let missing = app.client.put(missing).json(&json!({"rating": "up"})).send().await.unwrap();
    assert_eq!(missing.status(), 404);
}

#[tokio::test]
async fn counters_survive_a_restart_and_agree_with_the_list() {
    let dir = tempfile::tempdir().unwrap();
    let store = ba_store::Store::open(ba_store::StoreConfig::local(dir.path())).await.unwrap();
    let app = App::start_on(dir, store.clone(), Default::default(), |_| {}).await;
    app.ask("one").await;
    app.ask("use the tool").await;
    app.post("/agent/query", json!({"message": "fail"})).await;
    let before = app.get("/metrics").await.body["data"].clone();
    let listed = app.get("/runs").await.body["data"]["runs"].as_array().unwrap().len();
    assert_eq!((before["agent"]["runs"].clone(), listed), (json!(3), 3));
    assert_eq!(before["agent"]["total"]["calls"], 1);

    // Another process on the same store has counted nothing itself.
    let again = App::start_on(tempfile::tempdir().unwrap(), store, Default::default(), |_| {}).await;
    let after = again.get("/metrics").await.body["data"].clone();
    assert_eq!(after["agent"], before["agent"]);
    assert!(after["agent"]["models"][0][0].as_str().unwrap().contains("rules"), "{after}");
}

#[tokio::test]
async fn conversations_are_pinned_tagged_and_marked_while_answered() {
    let app = App::start().await;
    let first = app.ask("华东").await["conversation_id"].as_str().unwrap().to_owned();
    app.ask("漏斗").await;
    let url = app.api(&format!("/conversations/{first}"));
    let change =
        async |body: Value| Answer::of(app.client.patch(&url).json(&body).send().await.unwrap()).await;
    let changed = change(json!({"pinned": true, "tags": ["销售"]})).await;
    assert_eq!(changed.body["data"]["tags"], json!(["销售"]), "{:?}", changed.body);
    let list = app.get("/conversations").await.body["data"]["conversations"].clone();
    assert_eq!((&list[0]["conversation_id"], &list[0]["pinned"]), (&json!(first), &json!(true)));
    assert_eq!((&list[1]["pinned"], &list[1]["running"]), (&json!(false), &json!(false)));
    for bad in [json!({}), json!({"tags": ["x".repeat(31)]}), json!({"pinned": "yes"})] {
        assert_eq!(change(bad.clone()).await.status, 400, "{bad}");
    }
    let body = json!({"message": "never answer", "conversation_id": first});
    let stream = app.client.post(app.api("/agent/query/stream")).json(&body).send().await.unwrap();
    assert_eq!(app.get("/conversations").await.body["data"]["conversations"][0]["running"], true);
    let run = stream.headers()["x-run-id"].to_str().unwrap().to_owned();
    app.post(&format!("/runs/{run}/cancel"), json!({})).await;
}

#[tokio::test]
async fn the_board_shows_pieces_and_asks_their_questions_again() {
    let app = App::start().await;
    let answer = app.ask("one").await;
    let pin = json!({"run_id": answer["run_id"], "kind": "answer", "title": "总数"});
    let piece = app.post("/board", pin).await.body["data"].clone();
    assert_eq!((&piece["question"], &piece["title"]), (&json!("one"), &json!("总数")));
    assert_eq!(piece["answer"]["response"], answer["response"]);
    let id = piece["item_id"].as_str().unwrap();
    let fresh = app.post(&format!("/board/{id}/refresh"), json!({})).await;
    assert_eq!(fresh.status, 200, "{:?}", fresh.body);
    assert_ne!(fresh.body["data"]["run_id"], answer["run_id"]);
    let listed = rounds(&app, &answer["conversation_id"]).await;
    assert_eq!(listed.iter().map(|r| r["chosen"].clone()).collect::<Vec<_>>(), [false, true]);
    assert_eq!(app.get("/board").await.body["data"]["pieces"][0]["run_id"], fresh.body["data"]["run_id"]);
    assert_eq!(app.client.delete(app.api(&format!("/board/{id}"))).send().await.unwrap().status(), 200);
    assert_eq!(app.get("/board").await.body["data"]["pieces"], json!([]));
    let bad = app.post("/board", json!({"run_id": answer["run_id"], "kind": "picture"})).await;
    assert_eq!((bad.status, bad.code()), (400, "unknown_kind"));
    assert_eq!(app.post("/board/item_x/refresh", json!({})).await.status, 404);
}
