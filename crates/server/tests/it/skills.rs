//! Skills over HTTP: installed, approved, switched and removed by administrators (SPEC A7, S1).

use std::io::{Cursor, Write};
use std::sync::Arc;

use ba_server::ServerConfig;
use ba_skills::{LibraryConfig, Limits, SkillLibrary};
use serde_json::{Value, json};

use crate::kit::{Answer, App};

fn archive(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in entries {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

async fn with_skills() -> (App, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let library = SkillLibrary::open(LibraryConfig {
        shipped: None,
        data_dir: dir.path().to_owned(),
        folders: vec![],
        limits: Limits::default(),
    });
    let library = Arc::new(library.unwrap());
    (App::start_with(ServerConfig::default(), |deps| deps.skills = Some(library)).await, dir)
}

async fn install(app: &App, bytes: Vec<u8>, query: &str) -> Answer {
    let request = app.client.post(app.api(&format!("/admin/skills/zip{query}")));
    Answer::of(request.header("content-type", "application/zip").body(bytes).send().await.unwrap()).await
}

async fn names(app: &App) -> Value {
    let listed = app.get("/skills").await.body["data"]["skills"].clone();
    listed.as_array().unwrap().iter().map(|s| s["name"].clone()).collect()
}

const MARGIN: (&str, &str) = ("margin/SKILL.md", "---\nname: margin\ndescription: Our margin\n---\n# How\n");

#[tokio::test]
async fn a_folder_of_the_server_is_copied_and_waits_for_approval() {
    let (app, _dir) = with_skills().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("margin")).unwrap();
    let text = "---\nname: margin\ndescription: Margins\n---\n# Margin\n";
    std::fs::write(folder.path().join("margin/SKILL.md"), text).unwrap();
    let path = folder.path().join("margin");
    let installed = app.post("/admin/skills/folder", json!({"path": path})).await;
    assert_eq!(installed.status, 200, "{:?}", installed.body);
    let skill = &installed.body["data"]["skills"][0];
    assert_eq!((&skill["name"], &skill["status"]), (&json!("margin"), &json!("needs_approval")));
    let relative = app.post("/admin/skills/folder", json!({"path": "margin"})).await;
    assert_eq!((relative.status, relative.code()), (400, "relative_path"));
    let nowhere = app.post("/admin/skills/folder", json!({"path": "/nowhere/at/all"})).await;
    assert!((400..500).contains(&nowhere.status), "{:?}", nowhere.body);
    drop(folder);
    assert_eq!(app.post("/admin/skills/margin/approve", json!({"hash": skill["hash"]})).await.status, 200);
}

#[tokio::test]
async fn a_skill_is_installed_approved_switched_and_removed() {
    let (app, _dir) = with_skills().await;
    let installed = install(&app, archive(&[MARGIN]), "").await;
    assert_eq!(installed.status, 200, "{}", installed.body);
    let skill = &installed.body["data"]["skills"][0];
    assert_eq!((&skill["name"], &skill["status"]), (&json!("margin"), &json!("needs_approval")));
    assert_eq!(names(&app).await, json!([]), "not used before it is approved");

    let wrong = app.post("/admin/skills/margin/approve", json!({"hash": "blake3:00"})).await;
    assert_eq!((wrong.status, wrong.code()), (409, "skill_changed"));
    assert_eq!(app.post("/admin/skills/margin/approve", json!({"hash": skill["hash"]})).await.status, 200);
    assert_eq!(names(&app).await, json!(["margin"]));

    assert_eq!(install(&app, archive(&[MARGIN]), "").await.code(), "skill_exists");
    assert_eq!(install(&app, archive(&[MARGIN]), "?replace=true").await.status, 200);

    let switch = app.client.patch(app.api("/admin/skills/margin")).json(&json!({"enabled": false}));
    assert_eq!(switch.send().await.unwrap().status(), 200);
    assert_eq!(names(&app).await, json!([]));
    let remove = || app.client.delete(app.api("/admin/skills/margin")).send();
    assert_eq!(remove().await.unwrap().status(), 200);
    assert_eq!(Answer::of(remove().await.unwrap()).await.code(), "skill_not_found");
}

#[tokio::test]
async fn hostile_sources_are_refused_in_words() {
    let (app, dir) = with_skills().await;
    let bomb = archive(&[MARGIN, ("margin/zeros.txt", &"0".repeat(4 << 20))]);
    assert_eq!(install(&app, bomb, "").await.code(), "skill_archive_refused");
    assert_eq!(install(&app, b"not a zip".to_vec(), "").await.code(), "skill_archive_refused");
    assert_eq!(install(&app, archive(&[("readme.md", "x")]), "").await.code(), "skill_invalid");
    for url in ["file:///etc", "ext::sh -c id", "http://127.0.0.1/x.git", "https://a:b@example.com/x"] {
        let refused = app.post("/admin/skills/git", json!({"url": url})).await;
        assert_eq!((refused.status, refused.code()), (400, "skill_git_refused"), "{url}");
    }
    assert_eq!(std::fs::read_dir(dir.path().join("skills")).unwrap().count(), 0, "nothing is left behind");
    assert_eq!(app.get("/admin/skills").await.body["data"]["skills"], json!([]));
}

#[tokio::test]
async fn a_server_without_skills_says_so() {
    let app = App::start().await;
    assert_eq!(names(&app).await, json!([]));
    assert_eq!(app.get("/admin/skills").await.code(), "skills_off");
}
