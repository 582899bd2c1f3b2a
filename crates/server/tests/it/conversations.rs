//! Conversations (SPEC A6): list, search, rename, delete, export and import.

use serde_json::{Value, json};

use crate::kit::{Answer, App};

async fn titles(app: &App, query: &str) -> Vec<Value> {
    let list = app.get(&format!("/conversations{query}")).await;
    list.body["data"]["conversations"].as_array().unwrap().iter().map(|c| c["title"].clone()).collect()
}

#[tokio::test]
async fn conversations_are_listed_searched_renamed_and_deleted() {
    let app = App::start().await;
    let first = app.ask("华东销售额").await["conversation_id"].as_str().unwrap().to_owned();
    app.ask("漏斗转化").await;
    assert_eq!(titles(&app, "").await, [json!("漏斗转化"), json!("华东销售额")]);
    assert_eq!(titles(&app, "?search=%E5%8D%8E%E4%B8%9C").await, [json!("华东销售额")]);
    assert_eq!(titles(&app, "?limit=1&offset=1").await, [json!("华东销售额")]);

    let url = app.api(&format!("/conversations/{first}"));
    let renamed = app.client.patch(&url).json(&json!({"title": " 零售 \n分析 "})).send().await.unwrap();
    assert_eq!(Answer::of(renamed).await.body["data"]["title"], "零售  分析");
    for bad in [json!({"title": " "}), json!({"title": "x".repeat(201)}), json!({}), json!({"title": 1})] {
        let answer = Answer::of(app.client.patch(&url).json(&bad).send().await.unwrap()).await;
        assert_eq!(answer.status, 400, "{bad}");
    }
    assert_eq!(app.client.delete(&url).send().await.unwrap().status(), 200);
    assert_eq!(app.client.delete(&url).send().await.unwrap().status(), 404);
    assert_eq!(app.get(&format!("/conversations/{first}")).await.status, 404);
}

#[tokio::test]
async fn a_conversation_that_is_being_answered_is_not_deleted() {
    let app = App::start().await;
    let created = app.post("/conversations", json!({"title": "t"})).await;
    let id = created.body["data"]["conversation_id"].as_str().unwrap().to_owned();
    let body = json!({"message": "never answer", "conversation_id": id});
    let stream = app.client.post(app.api("/agent/query/stream")).json(&body).send().await.unwrap();
    let deleted = app.client.delete(app.api(&format!("/conversations/{id}"))).send().await.unwrap();
    assert_eq!(deleted.status(), 409);
    let detail = app.get(&format!("/conversations/{id}")).await;
    assert_eq!(detail.body["data"]["rounds"][0]["status"], "running");
    let run = stream.headers()["x-run-id"].to_str().unwrap().to_owned();
    app.post(&format!("/runs/{run}/cancel"), json!({})).await;
}

#[tokio::test]
async fn an_export_comes_back_as_a_new_conversation() {
    let app = App::start().await;
    let up = app.upload(&[("a.csv", b"a,b\n1,2\n")], None).await;
    let id = up.body["data"]["conversation_id"].as_str().unwrap().to_owned();
    app.post("/agent/query", json!({"message": "write code", "conversation_id": id})).await;
    let export = app.client.get(app.api(&format!("/conversations/{id}/export"))).send().await.unwrap();
    assert_eq!(export.status(), 200);
    assert!(export.headers()["content-disposition"].to_str().unwrap().contains(&id));
    let archive = export.bytes().await.unwrap();

    let import =
        app.client.post(app.api("/conversations/import")).body(archive.clone()).send().await.unwrap();
    let report = Answer::of(import).await;
    assert_eq!(report.status, 200, "{:?}", report.body);
    let data = &report.body["data"];
    assert_ne!(data["conversation_id"], json!(id));
    assert_eq!((&data["uploads"], &data["codes"]), (&json!(1), &json!(1)));
    let copy = data["conversation_id"].as_str().unwrap();
    assert_eq!(app.get(&format!("/files/upload_001?conversation_id={copy}")).await.status, 200);

    for bad in [b"not a tar".to_vec(), archive[..archive.len() / 2].to_vec(), vec![]] {
        let answer =
            Answer::of(app.client.post(app.api("/conversations/import")).body(bad).send().await.unwrap())
                .await;
        assert!((400..500).contains(&answer.status), "{:?}", answer.body);
    }
}

#[tokio::test]
async fn the_context_of_a_turn_can_be_looked_into() {
    let app = App::start().await;
    let id = app.ask("use the tool").await["conversation_id"].as_str().unwrap().to_owned();
    let next = app.get(&format!("/conversations/{id}/context")).await;
    assert_eq!(next.status, 200, "{:?}", next.body);
    assert_eq!(next.body["data"]["parts"][0]["role"], "system");
    assert!(next.body["data"]["tokens"].as_u64().unwrap() > 0);
    assert_eq!(app.get(&format!("/conversations/{id}/context?turn=1")).await.status, 200);
    assert_eq!(app.get(&format!("/conversations/{id}/context?turn=99")).await.status, 404);
    assert_eq!(app.get("/conversations/conv_000000000000/context").await.status, 404);

    // By run, whatever failed in between.
    app.post("/agent/query", json!({"message": "fail", "conversation_id": id})).await;
    app.post("/agent/query", json!({"message": "又一个问题", "conversation_id": id})).await;
    let detail = app.get(&format!("/conversations/{id}")).await;
    let context = async |round: usize| {
        let run = detail.body["data"]["rounds"][round]["run_id"].as_str().unwrap();
        app.get(&format!("/conversations/{id}/context?run_id={run}")).await
    };
    assert_eq!(context(1).await.status, 200, "a turn that failed at once is kept, too (SPEC X9)");
    let last = context(2).await.body["data"]["parts"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["kind"], &last["preview"]), (&json!("user"), &json!("又一个问题")));
}
