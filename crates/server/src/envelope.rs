//! The success envelope, and extractors whose refusals are API errors too (SPEC A8).

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use crate::error::ApiError;

/// `{success: true, data: …}`
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Data<T> {
    #[schema(example = true)]
    pub success: bool,
    pub data: T,
}

impl<T> Data<T> {
    pub fn of(data: T) -> Self {
        Self { success: true, data }
    }
}

impl<T: Serialize> IntoResponse for Data<T> {
    fn into_response(self) -> Response {
        let mut response = Json(self).into_response();
        response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
        response
    }
}

/// A JSON body. Refuses another content type, which also keeps plain HTML forms out.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        if !is_json(request.headers()) {
            return Err(ApiError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                "send the body as `Content-Type: application/json`",
            ));
        }
        let bytes = Bytes::from_request(request, state).await.map_err(|refused| body_refusal(&refused))?;
        parse(&bytes).map(Self)
    }
}

/// Reads a JSON object, and says where it is wrong.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // Serde would also fill a struct from an array, which no client means.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(ApiError::bad_request("invalid_request", "expected an object, found an array"));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let code = if error.is_data() { "invalid_request" } else { "invalid_json" };
        ApiError::bad_request(code, error.to_string())
    })
}

fn body_refusal(refused: &BytesRejection) -> ApiError {
    match refused.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            "the body is larger than this route accepts",
        ),
        _ => ApiError::bad_request("invalid_body", "the body could not be read to its end"),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
    given.and_then(|v| v.parse::<mime::Mime>().ok()).is_some_and(|m| {
        m.type_() == "application" && (m.subtype() == "json" || m.suffix() == Some(mime::JSON))
    })
}

/// Query parameters.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match axum::extract::Query::<T>::from_request_parts(parts, state).await {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(refused) => Err(ApiError::bad_request("invalid_query", refused.body_text())),
        }
    }
}

/// Path parameters. An id of a wrong form names nothing, so it is not found.
#[derive(Debug)]
pub struct Path<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match axum::extract::Path::<T>::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(refused) => Err(ApiError::new(StatusCode::NOT_FOUND, "not_found", refused.body_text())),
        }
    }
}
