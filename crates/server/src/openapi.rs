//! The OpenAPI document: what every operation has in common is added here, once (SPEC A9).

use utoipa::OpenApi;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, PathItem, Ref, RefOr, ResponseBuilder, SecurityRequirement};

use crate::auth::gate::{PUBLIC, SESSION_COOKIE};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "BA-Agent",
        description = "A business-analysis agent: ask about uploaded tables and databases, get a report with figures, charts, code and files.\n\nAnswers are `{success: true, data}`; errors are `{success: false, error: {code, message, details?}}`.",
    ),
    tags(
        (name = "agent", description = "Questions, tools, skills"),
        (name = "runs", description = "Follow and cancel runs"),
        (name = "files", description = "Uploads and downloads"),
        (name = "code", description = "Code the agent saved"),
        (name = "conversations", description = "History"),
        (name = "board", description = "Pieces of answers kept in sight"),
        (name = "auth", description = "Users, sessions, keys"),
        (name = "admin", description = "What administrators look after"),
        (name = "health", description = "Health and numbers"),
        (name = "openai", description = "BA-Agent as a model, for clients that speak OpenAI's protocol"),
    ),
    components(schemas(
        crate::error::Failure,
        ba_protocol::event::Event,
        crate::file_events::FileEvent,
    ))
)]
pub struct Document;

/// Errors and security, for every operation.
pub fn complete(api: &mut utoipa::openapi::OpenApi) {
    for (path, item) in &mut api.paths.paths {
        let public = PUBLIC.contains(&path.as_str());
        for operation in operations(item) {
            for response in operation.responses.responses.values_mut() {
                // The standard asks for words; where the body says it all, these do.
                if let RefOr::T(response) = response
                    && response.description.trim().is_empty()
                {
                    response.description = "Done; the body has the result".to_owned();
                }
            }
            operation.responses.responses.insert("default".to_owned(), RefOr::T(failure()));
            if public {
                operation.security = Some(vec![SecurityRequirement::default()]);
            }
        }
    }
    let components = api.components.get_or_insert_default();
    components.add_security_scheme(
        "key",
        SecurityScheme::Http(
            HttpBuilder::new()
                .scheme(HttpAuthScheme::Bearer)
                .description(Some("An API key. Not needed on loopback."))
                .build(),
        ),
    );
    components.add_security_scheme(
        "session",
        SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(SESSION_COOKIE))),
    );
    let one = |name: &str| SecurityRequirement::new(name, Vec::<String>::new());
    api.security = Some(vec![one("key"), one("session")]);
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete].into_iter().flatten()
}

fn failure() -> utoipa::openapi::Response {
    let schema = Ref::from_schema_name("Failure");
    let content = ContentBuilder::new()
        .schema(Some(schema))
        .example(Some(serde_json::json!({
            "success": false,
            "error": {"code": "not_found", "message": "conversation not found"}
        })))
        .build();
    ResponseBuilder::new().description("What went wrong").content("application/json", content).build()
}

/// The document as it is served and kept beside the code.
pub fn document() -> utoipa::openapi::OpenApi {
    crate::router::documented().1
}
