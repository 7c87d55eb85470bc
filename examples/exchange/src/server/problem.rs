//! What a client is told when a request fails: a status, one word for programs, and a sentence.

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::rules::error::Error;

#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    body: Body,
}

#[derive(Debug, Serialize)]
struct Body {
    error: &'static str,
    message: String,
}

impl Problem {
    pub fn new(status: StatusCode, error: &'static str, message: impl ToString) -> Self {
        Self { status, body: Body { error, message: message.to_string() } }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(self.body)).into_response()
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::new(status(&error), error.code(), error)
    }
}

fn status(error: &Error) -> StatusCode {
    match error {
        Error::Invalid(_) => StatusCode::BAD_REQUEST,
        Error::UnknownAccount(_) | Error::UnknownSymbol(_) | Error::UnknownOrder { .. } => {
            StatusCode::NOT_FOUND
        }
        Error::AccountExists(_) | Error::NotOpen { .. } | Error::DuplicateClientId { .. } => {
            StatusCode::CONFLICT
        }
        Error::InsufficientFunds { .. } | Error::InsufficientShares { .. } => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        Error::Frozen(_) => StatusCode::INTERNAL_SERVER_ERROR,
        Error::Busy(_) | Error::Restarted(_) | Error::Closed => StatusCode::SERVICE_UNAVAILABLE,
    }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        // Valid JSON with a wrong field is as much the client's mistake as a wrong value of a right
        // one.
        let status = match rejection.status() {
            StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
            other => other,
        };
        Self::new(status, "bad_body", rejection.body_text())
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::new(rejection.status(), "bad_path", rejection.body_text())
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(rejection.status(), "bad_query", rejection.body_text())
    }
}
