//! Who gets in (SPEC A10): every route without a token, with a revoked one, with another user's; sign-in; rates.

use ba_protocol::UserId;
use ba_protocol::api::ErrorInfo;
use ba_server::auth::{password, secret::Secret};
use ba_server::{Access, Rates, ServerConfig};
use ba_store::UserRole;
use serde_json::{Value, json};

use crate::kit::{Answer, App};

const PASSWORD: &str = "correct horse battery";

fn config() -> ServerConfig {
    ServerConfig { access: Access::SignIn, ..ServerConfig::default() }
}

/// A server with alice (admin) and bob, each with a key.
async fn app(config: ServerConfig) -> (App, [(UserId, String); 2]) {
    let dir = tempfile::tempdir().unwrap();
    let store = ba_store::Store::open(ba_store::StoreConfig::local(dir.path())).await.unwrap();
    let mut users = Vec::new();
    for (name, role) in [("alice", UserRole::Admin), ("bob", UserRole::User)] {
        let user = store.create_user(name, &password::hash(PASSWORD).unwrap(), role).await.unwrap();
        let key = Secret::new_key();
        store.create_key(&user.id, &key.hash, "test").await.unwrap();
        users.push((user.id, key.token));
    }
    let app = App::start_on(dir, store, config, |_| {}).await;
    (app, users.try_into().unwrap())
}

async fn get(app: &App, key: &str, path: &str) -> Answer {
    Answer::of(app.client.get(app.api(path)).bearer_auth(key).send().await.unwrap()).await
}

/// Every operation of the document: method, path with the placeholders filled, template.
fn operations(fill: &[(&str, &str)]) -> Vec<(reqwest::Method, String, String)> {
    let document: Value = serde_json::to_value(ba_server::openapi::document()).unwrap();
    let mut all = Vec::new();
    for (template, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let mut path = template.clone();
            for (name, value) in fill {
                path = path.replace(&format!("{{{name}}}"), value);
            }
            let wants = operation["parameters"].as_array().into_iter().flatten();
            if wants.clone().any(|p| p["name"] == "conversation_id" && p["in"] == "query") {
                let id = fill.iter().find(|(name, _)| *name == "conversation_id").unwrap().1;
                path = format!("{path}?conversation_id={id}");
            }
            all.push((method.to_uppercase().parse().unwrap(), path, template.clone()));
        }
    }
    all
}

const PUBLIC: [&str; 5] =
    ["/api/v1/health", "/api/v1/ready", "/api/v1/status", "/api/v1/auth/login", "/api/v1/openapi.json"];

const SOMEWHERE: [(&str, &str); 8] = [
    ("share_id", "share_000000000000"),
    ("conversation_id", "conv_000000000000"),
    ("run_id", "run_0000000000000000"),
    ("file_id", "upload_001"),
    ("code_id", "code_x"),
    ("filename", "x.csv"),
    ("user_id", "nobody"),
    ("key_id", "key_000000000000"),
];

#[tokio::test]
async fn every_route_refuses_no_token_a_wrong_one_and_a_revoked_one() {
    let rates = Rates { per_user: 100_000, per_address: 100_000, sign_in: 100_000 };
    let (app, [_, (bob, _)]) = app(ServerConfig { rates, ..config() }).await;
    let revoked = Secret::new_key();
    let key = app.store.create_key(&bob, &revoked.hash, "gone").await.unwrap();
    app.store.revoke_key(&key.id).await.unwrap();
    let mut seen = 0;
    for (method, path, template) in operations(&SOMEWHERE) {
        let url = format!("{}{path}", app.url);
        for token in [None, Some("ba_wrong"), Some(revoked.token.as_str()), Some("")] {
            let mut request = app.client.request(method.clone(), &url).json(&json!({}));
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            let status = request.send().await.unwrap().status().as_u16();
            if PUBLIC.contains(&template.as_str()) {
                assert_ne!(status, 401, "{method} {path} is public");
            } else {
                assert_eq!(status, 401, "{method} {path} with {token:?}");
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "only {seen} requests were refused");
}

#[tokio::test]
async fn another_users_things_do_not_exist() {
    let (app, [(_, alice), (_, bob)]) = app(config()).await;
    let ask = |key: String| {
        let request = app.client.post(app.api("/agent/query")).bearer_auth(key);
        async move {
            Answer::of(request.json(&json!({"message": "write code"})).send().await.unwrap()).await.body["data"].clone()
        }
    };
    let hers = ask(alice.clone()).await;
    let id = hers["conversation_id"].as_str().unwrap().to_owned();
    app.store.put_artifact_bytes(&id.parse().unwrap(), "x.csv", b"secret").await.unwrap();
    let mut writer = app.store.begin_upload(&id.parse().unwrap(), "u.csv", None).await.unwrap();
    writer.write(b"secret").await.unwrap();
    writer.finish().await.unwrap();
    let fill = [
        ("conversation_id", id.as_str()),
        ("run_id", hers["run_id"].as_str().unwrap()),
        ("file_id", "upload_001"),
        ("code_id", hers["metadata"]["saved_codes"][0]["code_id"].as_str().unwrap()),
        ("filename", "x.csv"),
        ("user_id", "alice"),
        ("key_id", "key_000000000000"),
    ];
    let mut checked = 0;
    for (method, path, template) in operations(&fill) {
        if !template.contains("{conversation_id}") && !template.contains("{run_id}") && !path.contains(&id) {
            continue;
        }
        let query = if template.ends_with("/report") { "?format=md" } else { "" };
        let url = format!("{}{path}{query}", app.url);
        let body = match template.as_str() {
            "/api/v1/files/{file_id}" => json!({"description": "mine"}),
            "/api/v1/files/{file_id}/ingest" => json!({}),
            "/api/v1/conversations/{conversation_id}/consents" => json!({"host": "e.example"}),
            "/api/v1/conversations/{conversation_id}/report" => json!({"format": "md"}),
            "/api/v1/conversations/{conversation_id}/shares" => json!({"run_id": hers["run_id"]}),
            "/api/v1/runs/{run_id}/feedback" => json!({"rating": "up"}),
            _ => json!({"title": "mine"}),
        };
        let request = app.client.request(method.clone(), &url).bearer_auth(&bob).json(&body);
        let answer = Answer::of(request.send().await.unwrap()).await;
        assert_eq!(answer.status, 404, "{method} {path}: {:?}", answer.body);
        checked += 1;
    }
    assert!(checked >= 15, "only {checked} routes were tried");
    for body in [json!({"message": "x", "conversation_id": id})] {
        let request = app.client.post(app.api("/agent/query")).bearer_auth(&bob).json(&body);
        assert_eq!(request.send().await.unwrap().status(), 404);
    }
    // Without a conversation a name is looked for only among one's own.
    assert_eq!(get(&app, &bob, "/files/download/x.csv").await.status, 404);
    assert_eq!(get(&app, &alice, "/files/download/x.csv").await.status, 200);
    assert_eq!(get(&app, &bob, "/conversations").await.body["data"]["conversations"], json!([]));
    assert_eq!(get(&app, &bob, "/runs").await.body["data"]["runs"], json!([]));
    assert_eq!(get(&app, &alice, &format!("/conversations/{id}")).await.status, 200);
}

#[tokio::test]
async fn the_page_signs_in_with_a_cookie_that_scripts_cannot_read() {
    let (app, _) = app(config()).await;
    let login = |name: &str, password: &str| {
        let request = app.client.post(app.api("/auth/login")).header("x-forwarded-proto", "https");
        let body = json!({"username": name, "password": password});
        async move { request.json(&body).send().await.unwrap() }
    };
    for (name, password) in [("alice", "wrong wrong"), ("nobody", PASSWORD), ("", "")] {
        let refused = login(name, password).await;
        assert_eq!(refused.status(), 401);
        assert!(refused.headers().get("set-cookie").is_none());
    }
    let signed = login("Alice", PASSWORD).await;
    assert_eq!(signed.status(), 200);
    let cookie = signed.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains("Secure"), "only a trusted proxy may say that it was TLS");
    let session = cookie.split(';').next().unwrap().to_owned();

    let with = |path: &str| app.client.get(app.api(path)).header("cookie", format!("other=1; {session}"));
    let me = Answer::of(with("/auth/me").send().await.unwrap()).await;
    assert_eq!(me.body["data"], json!({"user": "alice", "role": "admin"}));
    let status = Answer::of(with("/status").send().await.unwrap()).await;
    assert_eq!(
        (&status.body["data"]["user"], &status.body["data"]["auth_required"]),
        (&json!("alice"), &json!(true))
    );
    let anonymous = app.get("/status").await;
    assert_eq!(
        (&anonymous.body["data"]["user"], &anonymous.body["data"]["model"]),
        (&Value::Null, &json!(""))
    );

    let out = app.client.post(app.api("/auth/logout")).header("cookie", &session).send().await.unwrap();
    assert!(out.headers()["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(with("/auth/me").send().await.unwrap().status(), 401);
}

#[tokio::test]
async fn behind_a_trusted_proxy_the_cookie_is_secure() {
    let proxied = ServerConfig { trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()], ..config() };
    let (app, _) = app(proxied).await;
    let request = app.client.post(app.api("/auth/login")).header("x-forwarded-proto", "https");
    let signed = request.json(&json!({"username": "alice", "password": PASSWORD})).send().await.unwrap();
    assert!(signed.headers()["set-cookie"].to_str().unwrap().ends_with("; Secure"));
}

#[tokio::test]
async fn administrators_manage_users_and_users_their_own_keys() {
    let (app, [(_, alice), (_, bob)]) = app(config()).await;
    let post = |key: &str, path: &str, body: Value| {
        let request = app.client.post(app.api(path)).bearer_auth(key).json(&body);
        async move { Answer::of(request.send().await.unwrap()).await }
    };
    let new = json!({"name": "carol", "password": PASSWORD});
    assert_eq!(post(&bob, "/admin/users", new.clone()).await.status, 403);
    assert_eq!(get(&app, &bob, "/admin/users").await.status, 403);
    assert_eq!(get(&app, &bob, "/admin/skills").await.status, 403);
    assert_eq!(post(&bob, "/admin/skills/x/approve", json!({"hash": "y"})).await.status, 403);
    let carol = post(&alice, "/admin/users", new.clone()).await;
    assert_eq!(carol.body["data"]["role"], "user");
    assert_eq!(post(&alice, "/admin/users", new).await.status, 409);
    let short = json!({"name": "dave", "password": "short"});
    assert_eq!(post(&alice, "/admin/users", short).await.code(), "invalid_password");

    let made = post(&bob, "/auth/keys", json!({"label": "script"})).await;
    let secret = made.body["data"]["secret"].as_str().unwrap().to_owned();
    let key_id = made.body["data"]["key_id"].as_str().unwrap().to_owned();
    assert_eq!(get(&app, &secret, "/auth/me").await.body["data"]["user"], "bob");
    let listed = get(&app, &bob, "/auth/keys").await;
    assert!(!listed.body.to_string().contains(&secret), "a key is shown once");
    let revoke = |key: &str| app.client.delete(app.api(&format!("/auth/keys/{key_id}"))).bearer_auth(key);
    assert_eq!(revoke(&bob).send().await.unwrap().status(), 200);
    assert_eq!(get(&app, &secret, "/auth/me").await.status, 401);

    let users = get(&app, &alice, "/admin/users").await;
    let find = |name: &str| {
        let all = users.body["data"]["users"].as_array().unwrap();
        all.iter().find(|u| u["name"] == name).unwrap()["user_id"].as_str().unwrap().to_owned()
    };
    assert_eq!(post(&alice, &format!("/admin/users/{}/disable", find("alice")), json!({})).await.status, 400);
    assert_eq!(post(&alice, &format!("/admin/users/{}/disable", find("bob")), json!({})).await.status, 200);
    assert_eq!(get(&app, &bob, "/auth/me").await.status, 401);
    assert!(!users.body.to_string().contains("argon2"), "no hash leaves the server");
}

#[tokio::test]
async fn rates_are_limited_per_user_and_per_address() {
    let rates = Rates { per_user: 12, per_address: 10_000, sign_in: 3 };
    let (app, [(_, alice), (_, bob)]) = app(ServerConfig { rates, ..config() }).await;
    let mut last = None;
    for _ in 0..11 {
        last = Some(get(&app, &alice, "/auth/me").await);
    }
    let refused = last.unwrap();
    assert_eq!((refused.status, refused.code()), (429, "rate_limited"));
    assert!(refused.headers["retry-after"].to_str().unwrap().parse::<u32>().unwrap() >= 1);
    assert_eq!(refused.headers["x-ratelimit-remaining"], "0");
    let other = get(&app, &bob, "/auth/me").await;
    assert_eq!((other.status, other.headers["x-ratelimit-remaining"].to_str().unwrap()), (200, "9"));
    let mut refusals = 0;
    for _ in 0..5 {
        let request =
            app.client.post(app.api("/auth/login")).json(&json!({"username": "alice", "password": "x"}));
        refusals += usize::from(request.send().await.unwrap().status() == 429);
    }
    assert_eq!(refusals, 2);
}

/// SPEC H5: guesses at one account count together, however its name is written and wherever they come from.
#[tokio::test]
async fn every_spelling_of_a_name_is_one_account_to_who_guesses() {
    let rates = Rates { per_user: 10_000, per_address: 10_000, sign_in: 4 };
    let trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let (app, _) = app(ServerConfig { rates, trusted_proxies, ..config() }).await;
    let guess = async |name: &str, address: u8| {
        let request =
            app.client.post(app.api("/auth/login")).header("x-forwarded-for", format!("10.0.0.{address}"));
        let request = request.json(&json!({"username": name, "password": "wrong"}));
        request.send().await.unwrap().status().as_u16()
    };
    let spellings = ["alice", "ALICE", " alice", "Alice ", "\talice", "aLiCe\u{3000}", "\u{a0}ALICE"];
    let mut heard = 0;
    for address in 1..=60 {
        heard += usize::from(guess(spellings[usize::from(address) % spellings.len()], address).await == 401);
    }
    assert!(heard <= 12, "{heard} guesses at one account were heard");
    assert_eq!(guess("alice", 61).await, 429);
    assert_eq!(guess("bob", 61).await, 401, "another account is not slowed");
}

/// SPEC A10: who changes their password stays signed in where they did it, and nowhere else.
#[tokio::test]
async fn a_change_of_password_keeps_its_own_session_only() {
    let (app, _) = app(config()).await;
    let sign_in = async || {
        let login = json!({"username": "bob", "password": PASSWORD});
        let answer = app.client.post(app.api("/auth/login")).json(&login).send().await.unwrap();
        answer.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned()
    };
    let (here, elsewhere) = (sign_in().await, sign_in().await);
    let me = async |cookie: &str| {
        app.client.get(app.api("/auth/me")).header("cookie", cookie).send().await.unwrap().status().as_u16()
    };
    assert_eq!((me(&here).await, me(&elsewhere).await), (200, 200));
    let change = app.client.put(app.api("/auth/password")).header("cookie", &here).header("origin", &app.url);
    let change = change.json(&json!({"old": PASSWORD, "new": "a new password"}));
    assert_eq!(change.send().await.unwrap().status(), 200);
    assert_eq!((me(&here).await, me(&elsewhere).await), (200, 401));
}

#[tokio::test]
async fn other_sites_and_other_names_are_refused() {
    let app = App::start().await;
    let post = || app.client.post(app.api("/conversations")).json(&json!({}));
    assert_eq!(post().send().await.unwrap().status(), 200);
    assert_eq!(post().header("origin", &app.url).send().await.unwrap().status(), 200);
    for origin in ["https://evil.example", "null", "http://127.0.0.1:1"] {
        assert_eq!(post().header("origin", origin).send().await.unwrap().status(), 403, "{origin}");
    }
    assert_eq!(post().header("sec-fetch-site", "cross-site").send().await.unwrap().status(), 403);
    for host in ["evil.example", "evil.example:8000", "169.254.169.254"] {
        let request = app.client.get(app.api("/conversations")).header("host", host);
        assert_eq!(request.send().await.unwrap().status(), 421, "{host}");
    }
    assert_eq!(
        app.client.get(app.api("/health")).header("host", "localhost").send().await.unwrap().status(),
        200
    );
}

#[tokio::test]
async fn a_server_open_to_everyone_does_not_start() {
    let dir = tempfile::tempdir().unwrap();
    let store = ba_store::Store::open(ba_store::StoreConfig::local(dir.path())).await.unwrap();
    let everywhere = "0.0.0.0:8000".parse().unwrap();
    let open = ba_server::check_access(everywhere, &ServerConfig::default(), &store).await;
    assert!(open.unwrap_err().to_string().contains("loopback"));
    let nobody = ba_server::check_access(everywhere, &config(), &store).await;
    assert!(nobody.unwrap_err().to_string().contains("user add"));
    store.create_user("alice", "x", UserRole::User).await.unwrap();
    assert!(ba_server::check_access(everywhere, &config(), &store).await.is_ok());
}

/// SPEC I1, A10: `/mcp` has the same gate and the same rights as the API.
#[tokio::test]
async fn an_agent_needs_a_key_and_sees_only_its_owners_conversations() {
    let (app, [(alice, key), (_, other)]) = app(config()).await;
    let conversation = app.store.create(&alice, "of alice").await.unwrap().id;
    let call = |token: Option<String>| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "list_tables", "arguments": {"conversation_id": conversation}}});
        let request = app.client.post(format!("{}/mcp", app.url)).json(&body);
        let request = request.header("accept", "application/json, text/event-stream");
        let request = request.header("mcp-protocol-version", "2025-06-18");
        async move {
            let answer = token.iter().fold(request, |r, token| r.bearer_auth(token)).send().await.unwrap();
            (answer.status().as_u16(), answer.text().await.unwrap())
        }
    };
    assert_eq!(call(None).await.0, 401);
    assert_eq!(call(Some("ba_wrong".into())).await.0, 401);
    let (status, own) = call(Some(key)).await;
    assert!(status == 200 && own.contains("no table yet"), "{status} {own}");
    let (status, foreign) = call(Some(other)).await;
    assert!(
        status == 200 && foreign.contains("not found") && foreign.contains("\"isError\":true"),
        "{foreign}"
    );
}

#[tokio::test]
async fn administrators_look_after_users_and_everyone_after_their_password() {
    let (app, [(_, admin), (bob, key)]) = app(config()).await;
    for path in ["/admin/usage", "/admin/audit", "/admin/limits"] {
        assert_eq!(get(&app, &key, path).await.status, 403, "{path}");
        assert_eq!(get(&app, &admin, path).await.status, 200, "{path}");
    }
    let send = async |method: reqwest::Method, key: &str, path: &str, body: Value| {
        let request = app.client.request(method, app.api(path)).bearer_auth(key).json(&body);
        Answer::of(request.send().await.unwrap()).await
    };
    let (put, post) = (reqwest::Method::PUT, reqwest::Method::POST);
    let wrong = send(put.clone(), &key, "/auth/password", json!({"old": "x", "new": "a new password"})).await;
    assert_eq!((wrong.status, wrong.code()), (400, "wrong_password"));
    let changed = json!({"old": PASSWORD, "new": "a new password"});
    assert_eq!(send(put.clone(), &key, "/auth/password", changed).await.status, 200);
    let login = json!({"username": "bob", "password": "a new password"});
    assert_eq!(app.post("/auth/login", login).await.status, 200);
    let reset = json!({"password": "yet another one"});
    assert_eq!(
        send(put.clone(), &key, &format!("/admin/users/{bob}/password"), reset.clone()).await.status,
        403
    );
    assert_eq!(send(put, &admin, &format!("/admin/users/{bob}/password"), reset).await.status, 200);
    assert_eq!(
        send(post.clone(), &admin, &format!("/admin/users/{bob}/disable"), json!({})).await.status,
        200
    );
    assert_eq!(send(post, &admin, &format!("/admin/users/{bob}/enable"), json!({})).await.status, 200);
    let login = json!({"username": "bob", "password": "yet another one"});
    assert_eq!(app.post("/auth/login", login).await.status, 200);
    let log = get(&app, &admin, "/admin/audit").await.body["data"]["entries"].clone();
    let seen: Vec<_> = log.as_array().unwrap().iter().map(|e| e["action"].as_str().unwrap()).collect();
    assert_eq!(seen, ["user.enable", "user.disable", "password.reset", "password.change"]);
    assert!(!log.to_string().contains("yet another"), "no secret is written down");
}

pub struct FakeSetup;

#[async_trait::async_trait]
impl ba_server::Setup for FakeSetup {
    fn connections(&self) -> Vec<ba_server::ConnectionInfo> {
        vec![ba_server::ConnectionInfo { name: "erp".into(), description: "orders".into() }]
    }

    async fn test_connection(&self, _: &str) -> Result<String, ErrorInfo> {
        Err(ErrorInfo::new("connection_failed", "no route to host"))
    }

    async fn test_model(&self, wanted: &ba_server::ModelSetup) -> Result<String, ErrorInfo> {
        let refused = || ErrorInfo::new("model_unauthorized", "no key");
        wanted.api_key.clone().ok_or_else(refused).map(|_| "answers".to_owned())
    }

    async fn save_model(&self, _: &ba_server::ModelSetup) -> Result<ba_server::SavedModel, String> {
        Ok(ba_server::SavedModel { file: "ba-agent.toml".into(), overridden_by: None })
    }
}

#[tokio::test]
async fn connections_and_models_are_tried_by_administrators_only() {
    let app =
        App::start_with(ServerConfig::default(), |deps| deps.setup = Some(std::sync::Arc::new(FakeSetup)))
            .await;
    assert_eq!(app.get("/admin/connections").await.body["data"]["connections"][0]["name"], "erp");
    let tried = app.post("/admin/connections/erp/test", json!({})).await.body["data"].clone();
    assert_eq!((&tried["works"], &tried["message"]), (&json!(false), &json!("no route to host")));
    assert_eq!(app.post("/admin/connections/crm/test", json!({})).await.status, 404);
    let tried = app.post("/admin/model/test", json!({"model": "deepseek:x", "api_key": " sk-1 "})).await;
    assert_eq!(tried.body["data"]["works"], true);
    assert_eq!(
        app.post("/admin/model/test", json!({"model": "deepseek:x"})).await.body["data"]["works"],
        false
    );
    let url = app.api("/admin/model");
    let saved = app.client.put(&url).json(&json!({"model": "deepseek:x"})).send().await.unwrap();
    assert_eq!(Answer::of(saved).await.body["data"]["file"], "ba-agent.toml");

    let (signed, [_, (_, key)]) = self::app(config()).await;
    assert_eq!(get(&signed, &key, "/admin/connections").await.status, 403);
}
