//! The URLs that jobs and the clients of other monitoring services push to: `/push/TOKEN`, `/api/push/TOKEN` as Uptime
//! Kuma has it, `/api/v1/endpoints/KEY/external` as Gatus has it. The token alone permits a push.

use std::borrow::Cow;

use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::credentials::bearer_token;
use super::error::ApiError;
use super::state::ApiState;
use crate::domain::PushStatus;
use crate::service::ServiceError;
use crate::service::hosts::{MAX_OUTPUT_BYTES, PushRequest};

/// Longest duration that a push may claim, in milliseconds: a week.
const MAX_PING_MS: f64 = 7.0 * 24.0 * 3600.0 * 1000.0;

/// Returns the routes of pushes, at the root of the server.
pub fn router(state: ApiState) -> Router {
    let push = || get(push_of_path).post(push_of_path);
    Router::new()
        .route("/push/{token}", push())
        .route("/api/push/{token}", push())
        .route("/api/v1/endpoints/{key}/external", post(push_of_endpoint))
        .with_state(state)
}

async fn push_of_path(
    State(state): State<ApiState>,
    Path(token): Path<String>,
    request: Request,
) -> Result<Json<Value>, PushRefusal> {
    let push = parse_push(request.uri().query().unwrap_or_default())?;
    let output = read_output(request).await?;
    record(&state, &token, PushRequest { output, ..push }).await
}

async fn push_of_endpoint(
    State(state): State<ApiState>,
    Path(_key): Path<String>,
    request: Request,
) -> Result<Json<Value>, PushRefusal> {
    let token = bearer_token(&request)?;
    let push = parse_endpoint_push(request.uri().query().unwrap_or_default())?;
    record(&state, &token, push).await
}

async fn record(state: &ApiState, token: &str, push: PushRequest) -> Result<Json<Value>, PushRefusal> {
    state.push_service.record_push(token, push).await?;
    Ok(Json(json!({"ok": true})))
}

/// Reads the last lines of a job, of which the end is kept; a longer body is read no further.
async fn read_output(request: Request) -> Result<String, PushRefusal> {
    let body: Bytes =
        axum::body::to_bytes(request.into_body(), 4 * MAX_OUTPUT_BYTES).await.map_err(|_| {
            let message = format!("The body has more than {} bytes, or was cut off", 4 * MAX_OUTPUT_BYTES);
            PushRefusal(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message))
        })?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Reads the parameters of a push; others are ignored, since clients send what their service knows.
fn parse_push(query: &str) -> Result<PushRequest, ApiError> {
    let mut push = PushRequest::default();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "status" => push.status = Some(parse_status(&value)?),
            "msg" => push.message = value.into_owned(),
            "ping" if value.is_empty() => {}
            "ping" => push.duration_us = Some(parse_ping(&value)?),
            "exit_code" => push.exit_code = Some(parse_exit_code(&value)?),
            _ => {}
        }
    }
    Ok(push)
}

fn parse_status(text: &str) -> Result<PushStatus, ApiError> {
    PushStatus::from_name(text)
        .ok_or_else(|| invalid(&format!("`status` must be `up`, `down` or `start`, not `{}`", shorten(text))))
}

fn parse_ping(text: &str) -> Result<u64, ApiError> {
    let milliseconds = text.parse().ok().filter(|ping| (0.0..=MAX_PING_MS).contains(ping));
    milliseconds.map(to_micros).ok_or_else(|| {
        invalid(&format!("`ping` must be a number of milliseconds, at most a week, not `{}`", shorten(text)))
    })
}

/// Converts milliseconds, from 0 to [`MAX_PING_MS`].
fn to_micros(milliseconds: f64) -> u64 {
    u64::try_from(std::time::Duration::from_secs_f64(milliseconds / 1000.0).as_micros()).unwrap_or(u64::MAX)
}

fn parse_exit_code(text: &str) -> Result<i32, ApiError> {
    text.parse().map_err(|_| invalid(&format!("`exit_code` must be a whole number, not `{}`", shorten(text))))
}

/// Reads the parameters `success`, `error` and `duration`, such as `10s`.
fn parse_endpoint_push(query: &str) -> Result<PushRequest, ApiError> {
    let mut push = PushRequest::default();
    let mut is_success = None;
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "success" => is_success = value.parse().ok(),
            "error" => push.message = value.into_owned(),
            "duration" => push.duration_us = Some(parse_duration(&value)?),
            _ => {}
        }
    }
    let is_success: bool = is_success.ok_or_else(|| invalid("`success` must be `true` or `false`"))?;
    push.status = Some(if is_success { PushStatus::Up } else { PushStatus::Down });
    Ok(push)
}

/// Parses a duration in Go's form, such as `1m30.5s` or `250ms`, into microseconds.
fn parse_duration(text: &str) -> Result<u64, ApiError> {
    let error = || invalid(&format!("`duration` must be a duration such as `10s`, not `{}`", shorten(text)));
    let (mut rest, mut milliseconds) = (text, 0.0);
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(error)?;
        let number: f64 = rest[..number_end].parse().map_err(|_| error())?;
        let unit_text = &rest[number_end..];
        let unit_end = unit_text.find(|c: char| c.is_ascii_digit()).unwrap_or(unit_text.len());
        let factor = match &unit_text[..unit_end] {
            "ns" => 1e-6,
            "us" | "µs" => 1e-3,
            "ms" => 1.0,
            "s" => 1e3,
            "m" => 60e3,
            "h" => 3600e3,
            _ => return Err(error()),
        };
        milliseconds += number * factor;
        rest = &unit_text[unit_end..];
    }
    if text.is_empty() || milliseconds > MAX_PING_MS { Err(error()) } else { Ok(to_micros(milliseconds)) }
}

fn invalid(message: &str) -> ApiError {
    ApiError::bad_request(vec![message.to_owned()])
}

fn shorten(text: &str) -> Cow<'_, str> {
    if text.chars().count() <= 40 {
        Cow::Borrowed(text)
    } else {
        text.chars().take(40).collect::<String>().into()
    }
}

/// A refused push, with the error body of version 3: clients look at the status.
struct PushRefusal(ApiError);

impl From<ApiError> for PushRefusal {
    fn from(error: ApiError) -> Self {
        Self(error)
    }
}

impl From<ServiceError> for PushRefusal {
    fn from(error: ServiceError) -> Self {
        Self(match error {
            ServiceError::NotFound => ApiError::new(
                StatusCode::NOT_FOUND,
                "No monitor has this push token; it was replaced or revoked",
            ),
            other => ApiError::from(other),
        })
    }
}

impl IntoResponse for PushRefusal {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_other_clients_are_read_or_ignored() {
        let push = parse_push("status=up&msg=OK&ping=12.5&unknown=1").unwrap();
        assert_eq!((push.status, push.message.as_str()), (Some(PushStatus::Up), "OK"));
        assert_eq!(push.duration_us, Some(12_500));
        assert_eq!(parse_push("status=up&msg=&ping=").unwrap().duration_us, None);
        assert_eq!(parse_push("").unwrap(), PushRequest::default());
        for wrong in ["status=maybe", "ping=-1", "ping=NaN", "ping=x", "ping=1e20", "exit_code=x"] {
            assert!(parse_push(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_external_endpoint_says_success_and_duration() {
        let push = parse_endpoint_push("success=false&error=no+route&duration=1m0.5s").unwrap();
        assert_eq!((push.status, push.message.as_str()), (Some(PushStatus::Down), "no route"));
        assert_eq!(push.duration_us, Some(60_500_000));
        assert_eq!(parse_endpoint_push("success=true&duration=250ms").unwrap().duration_us, Some(250_000));
        for wrong in ["", "success=yes", "success=true&duration=10", "success=true&duration=5d"] {
            assert!(parse_endpoint_push(wrong).is_err(), "{wrong}");
        }
    }
}
