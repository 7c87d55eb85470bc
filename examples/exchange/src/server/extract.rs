//! What requests bring, with errors as JSON.

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// The parameters of the path.
pub struct In<T>(pub T);

/// The body, which is JSON.
pub struct Body<T>(pub T);

/// The parameters behind the question mark.
pub struct With<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for In<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(found) = Path::from_request_parts(parts, state).await?;
        Ok(Self(found))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for With<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(found) = Query::from_request_parts(parts, state).await?;
        Ok(Self(found))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let Json(found) = Json::from_request(request, state).await?;
        Ok(Self(found))
    }
}
