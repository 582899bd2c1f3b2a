//! Share links over HTTP: allowed or not, whose answer, for how long; what a stranger gets with a right, a guessed, a revoked and
//! an expired address; and what the log counts.

use std::sync::Arc;

use async_trait::async_trait;
use ba_protocol::{ReportFor, UserId};
use ba_server::auth::secret::{Secret, hash_of};
use ba_server::{Access, ReportFile, ReportRefusal, ReportWanted, Reports, ServerConfig};
use ba_store::{NewShare, Store, StoreConfig, UserRole};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::kit::{Answer, App};

const SCRIPT: &str = "<html><p>42</p><script>draw()</script></html>";

struct Writer;

#[async_trait]
impl Reports for Writer {
    async fn report(
        &self,
        wanted: ReportWanted,
        _: &(dyn for<'m> Fn(f64, &'m str) + Send + Sync),
    ) -> Result<ReportFile, ReportRefusal> {
        assert_eq!((wanted.format.as_str(), wanted.run.is_some()), ("html", true));
        assert_ne!(wanted.audience, ReportFor::Owner);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let shown = if wanted.audience == ReportFor::VisitorsWithSources { "with sources" } else { "" };
        let text = format!("{SCRIPT}{shown}");
        std::fs::write(&path, &text).unwrap();
        Ok(ReportFile { path, name: "销售.html".into(), bytes: text.len() as u64, keep: Box::new(folder) })
    }
}

struct People {
    app: App,
    alice: String,
    bob: String,
    alice_id: UserId,
}

/// alice is an administrator, bob is not.
async fn people(share_days: Option<u32>) -> People {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(StoreConfig::local(dir.path())).await.unwrap();
    let mut keys = Vec::new();
    for (name, role) in [("alice", UserRole::Admin), ("bob", UserRole::User)] {
        let user = store.create_user(name, "x", role).await.unwrap();
        let key = Secret::new_key();
        store.create_key(&user.id, &key.hash, "").await.unwrap();
        keys.push((user.id, key.token));
    }
    let config = ServerConfig { access: Access::SignIn, share_days, ..ServerConfig::default() };
    let app = App::start_on(dir, store, config, |deps| deps.reports = Some(Arc::new(Writer))).await;
    let (alice_id, alice) = keys.remove(0);
    People { app, alice, alice_id, bob: keys.remove(0).1 }
}

impl People {
    async fn call(&self, key: &str, method: &str, path: &str, body: Value) -> Answer {
        let request = self.app.client.request(method.parse().unwrap(), self.app.api(path)).bearer_auth(key);
        Answer::of(request.json(&body).send().await.unwrap()).await
    }

    /// A conversation of `key` and its answer.
    async fn answered(&self, key: &str) -> (String, String) {
        let said = self.call(key, "POST", "/agent/query", json!({"message": "hello"})).await;
        let text = |name: &str| said.body["data"][name].as_str().unwrap().to_owned();
        (text("conversation_id"), text("run_id"))
    }

    async fn share(&self, key: &str, more: Value) -> Answer {
        let (id, run) = self.answered(key).await;
        let mut body = json!({"run_id": run});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.call(key, "POST", &format!("/conversations/{id}/shares"), body).await
    }

    /// As somebody who is not signed in.
    async fn visit(&self, address: &str) -> Answer {
        Answer::of(self.app.client.get(format!("{}{address}", self.app.url)).send().await.unwrap()).await
    }
}

// SPEC D4
#[tokio::test]
async fn a_stranger_reads_the_page_in_an_origin_of_its_own_until_it_is_revoked() {
    let p = people(Some(30)).await;
    let made = p.share(&p.bob, json!({"days": 3})).await;
    assert_eq!(made.status, 200, "{:?}", made.body);
    let data = &made.body["data"];
    let (address, id) = (data["address"].as_str().unwrap(), data["share_id"].as_str().unwrap());
    assert_eq!(address.len(), "/s/".len() + 43);
    let expires: Timestamp = data["expires_at"].as_str().unwrap().parse().unwrap();
    assert!((71..=72).contains(&expires.duration_since(Timestamp::now()).as_hours()), "{expires}");

    let page = p.visit(address).await;
    assert_eq!((page.status, page.body.as_str()), (200, Some(SCRIPT)));
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("sandbox allow-scripts; default-src 'none'; script-src 'sha256-"), "{policy}");
    assert_eq!(page.headers["cache-control"], "no-store");
    assert_eq!(page.headers["referrer-policy"], "no-referrer");
    assert_eq!(page.headers["x-robots-tag"], "noindex, nofollow");
    assert!(page.headers.get("set-cookie").is_none());
    p.visit(address).await;

    let listed = p.call(&p.bob, "GET", "/shares", json!({})).await;
    let listed = &listed.body["data"]["shares"];
    assert_eq!((&listed[0]["share_id"], &listed[0]["views"]), (&json!(id), &json!(2)));
    assert!(!listed.to_string().contains(&address[3..]), "the address is shown once");

    let path = format!("/shares/{id}");
    assert_eq!(p.call(&p.bob, "DELETE", &path, json!({})).await.status, 200);
    assert_eq!(p.visit(address).await.status, 404);
    assert_eq!(p.call(&p.bob, "DELETE", &path, json!({})).await.status, 404);

    assert_eq!(p.call(&p.bob, "GET", "/admin/audit", json!({})).await.status, 403);
    let log = p.call(&p.alice, "GET", "/admin/audit", json!({})).await;
    let mut counted: Vec<(String, u64)> = log.body["data"]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| (e["action"].as_str().unwrap().to_owned(), e["times"].as_u64().unwrap()))
        .filter(|(action, _)| action.starts_with("share."))
        .collect();
    counted.sort();
    let expected = [("share.created", 1), ("share.revoked", 1), ("share.viewed", 2)];
    assert_eq!(counted, expected.map(|(action, times)| (action.to_owned(), times)));
}

#[tokio::test]
async fn guessed_expired_and_broken_addresses_are_answered_alike() {
    let p = people(Some(30)).await;
    let made = p.share(&p.alice, json!({})).await;
    let address = made.body["data"]["address"].as_str().unwrap().to_owned();
    let (id, run) = (&made.body["data"]["conversation_id"], &made.body["data"]["run_id"]);
    let expired = NewShare {
        owner: p.alice_id.clone(),
        conversation: id.as_str().unwrap().parse().unwrap(),
        run: run.as_str().unwrap().parse().unwrap(),
        hash: hash_of("expired"),
        title: "t".into(),
        policy: "x".into(),
        expires_at: Timestamp::now() - SignedDuration::from_secs(1),
    };
    p.app.store.create_share(expired, b"gone").await.unwrap();
    let nothing = p.visit("/s/nothing").await;
    assert_eq!(nothing.status, 404);
    assert!(nothing.body.as_str().unwrap().contains("这个链接无效"));
    let mut wrong = address.clone();
    wrong.truncate(address.len() - 1);
    let hash = hash_of(&address[3..]);
    let others =
        ["/s/expired", &wrong, &format!("/s/{hash}"), "/s/share_000000000000", "/s/%00", "/s/..%2f..%2fetc"];
    for other in others {
        let answer = p.visit(other).await;
        assert_eq!((answer.status, &answer.body), (404, &nothing.body), "{other}");
    }
    // Nothing else opens with it.
    let token = &address[3..];
    assert_eq!(p.visit(&format!("/api/v1/conversations?token={token}")).await.status, 401);
    assert_eq!(p.call(token, "GET", "/conversations", json!({})).await.status, 401);
}

#[tokio::test]
async fn only_the_owner_shares_an_answer_and_only_the_owner_or_an_administrator_revokes() {
    let p = people(Some(30)).await;
    let (hers, her_run) = p.answered(&p.alice).await;
    let (his, _) = p.answered(&p.bob).await;
    let body = json!({"run_id": her_run});
    assert_eq!(
        p.call(&p.bob, "POST", &format!("/conversations/{hers}/shares"), body.clone()).await.status,
        404
    );
    assert_eq!(
        p.call(&p.bob, "POST", &format!("/conversations/{his}/shares"), body.clone()).await.status,
        404
    );
    let made = p.call(&p.alice, "POST", &format!("/conversations/{hers}/shares"), body).await;
    let id = made.body["data"]["share_id"].as_str().unwrap();
    assert_eq!(p.call(&p.bob, "DELETE", &format!("/shares/{id}"), json!({})).await.status, 404);
    assert_eq!(
        p.call(&p.bob, "GET", &format!("/shares?conversation_id={hers}"), json!({})).await.status,
        404
    );
    assert_eq!(p.call(&p.bob, "GET", "/shares", json!({})).await.body["data"]["shares"], json!([]));
    let bobs = p.share(&p.bob, json!({"sources": true})).await;
    let page = p.visit(bobs.body["data"]["address"].as_str().unwrap()).await;
    assert!(page.body.as_str().unwrap().ends_with("with sources"));
    let id = bobs.body["data"]["share_id"].as_str().unwrap();
    assert_eq!(p.call(&p.alice, "DELETE", &format!("/shares/{id}"), json!({})).await.status, 200);
}

#[tokio::test]
async fn links_are_made_only_where_they_are_allowed_and_for_as_long() {
    let p = people(Some(5)).await;
    assert_eq!(p.call(&p.bob, "GET", "/status", json!({})).await.body["data"]["share_days"], 5);
    assert_eq!(p.visit("/api/v1/status").await.body["data"].get("share_days"), None);
    for days in [0, 6, 4_000_000_000_u32] {
        let answer = p.share(&p.bob, json!({"days": days})).await;
        assert_eq!((answer.status, answer.code()), (400, "bad_days"));
    }
    assert_eq!(p.share(&p.bob, json!({"lang": "xx"})).await.code(), "unknown_language");

    let off = people(None).await;
    let answer = off.share(&off.alice, json!({})).await;
    assert_eq!((answer.status, answer.code()), (403, "share_links_off"));
    assert_eq!(off.call(&off.alice, "GET", "/status", json!({})).await.body["data"].get("share_days"), None);
    // A link from before they were switched off.
    let (id, run) = off.answered(&off.alice).await;
    let before = NewShare {
        owner: off.alice_id.clone(),
        conversation: id.parse().unwrap(),
        run: run.parse().unwrap(),
        hash: hash_of("before"),
        title: "t".into(),
        policy: "default-src 'none'".into(),
        expires_at: Timestamp::now() + SignedDuration::from_hours(1),
    };
    off.app.store.create_share(before, b"page").await.unwrap();
    assert_eq!(off.visit("/s/before").await.status, 404);
}
