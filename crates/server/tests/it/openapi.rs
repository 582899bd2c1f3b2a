//! The API document is kept beside the code, so that a change of the API is seen in review (SPEC A9).

use std::path::Path;

fn kept() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json")
}

#[test]
fn the_document_is_the_one_kept_beside_the_code() {
    let now = format!("{}\n", ba_server::openapi::document().to_pretty_json().unwrap());
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(kept(), &now).unwrap();
    }
    let before = std::fs::read_to_string(kept()).unwrap();
    assert!(
        before == now,
        "the API changed: run `UPDATE_OPENAPI=1 cargo test -p ba-server openapi` and commit crates/server/openapi.json"
    );
}

#[test]
fn every_operation_is_described_and_every_body_has_an_example() {
    let document: serde_json::Value = serde_json::to_value(ba_server::openapi::document()).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    let mut operations = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            operations += 1;
            let name = format!("{method} {path}");
            assert!(operation["operationId"].is_string(), "{name} has no operationId");
            let text = operation["summary"].as_str().or(operation["description"].as_str());
            assert!(text.is_some_and(|text| !text.is_empty()), "{name} is not described");
            assert!(operation["responses"]["default"].is_object(), "{name} has no error response");
            if let Some(body) = operation["requestBody"]["content"]["application/json"].as_object() {
                assert!(
                    body.contains_key("example") || has_examples(&document, &body["schema"]),
                    "{name} has no example"
                );
            }
        }
    }
    assert!(operations > 35, "only {operations} operations");
}

/// Whether every property of a referenced schema that must be given has an example.
fn has_examples(document: &serde_json::Value, schema: &serde_json::Value) -> bool {
    let Some(reference) = schema["$ref"].as_str() else { return false };
    let target = document.pointer(reference.trim_start_matches('#')).unwrap();
    target["properties"].as_object().unwrap().values().any(|p| p.get("example").is_some())
}

#[test]
fn the_documentation_lists_exactly_the_routes_there_are() {
    let guide =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md")).unwrap();
    let mut listed: Vec<String> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" | `"))
        .filter_map(|(method, rest)| Some(format!("{method} {}", rest.split_once('`')?.0)))
        .collect();
    let document: serde_json::Value = serde_json::to_value(ba_server::openapi::document()).unwrap();
    let mut real: Vec<String> = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        real.extend(
            item.as_object().unwrap().keys().map(|method| format!("{} {path}", method.to_uppercase())),
        );
    }
    listed.sort();
    real.sort();
    assert_eq!(listed, real);
}
