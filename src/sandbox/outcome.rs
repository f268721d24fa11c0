//! What a turn of a script ends with.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where a script stands after a turn.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Turn {
    /// It waits for the host.
    Waiting {
        /// What it asked for in this turn.
        operations: Vec<Operation>,
        /// When its next timer is due, in milliseconds of the clock that the host gives to each turn.
        timer_due_ms: Option<f64>,
    },
    /// It has ended.
    Done(Box<ScriptOutcome>),
}

/// Something that only the host can do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// Names it in the answer.
    pub id: u64,
    /// What is asked for.
    #[serde(flatten)]
    pub kind: OperationKind,
}

/// What a script asks the host for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum OperationKind {
    /// Send a request, in the form of collections.
    Request {
        /// The request.
        request: Value,
    },
    /// Read or change the cookies of the run.
    Cookie {
        /// What to do.
        action: CookieAction,
        /// The URL that the cookies belong to.
        url: String,
        /// The name of the cookie, where one is meant.
        name: Option<String>,
        /// Its new value.
        value: Option<String>,
    },
}

/// What is done with cookies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CookieAction {
    /// Return the value of one.
    Get,
    /// Return all of a URL.
    GetAll,
    /// Set one.
    Set,
    /// Remove one.
    Unset,
    /// Remove all of a URL.
    Clear,
}

/// What a script did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScriptOutcome {
    /// Its tests, in the order in which they ended.
    pub tests: Vec<ScriptTest>,
    /// What it wrote to the console.
    pub console: Vec<ConsoleLine>,
    /// The error that it ended with.
    pub error: Option<ScriptError>,
    /// The request to run next.
    #[serde(default, skip_serializing_if = "NextRequest::is_following")]
    pub next: NextRequest,
    /// Whether it asked to skip its request.
    pub is_skipped: bool,
    /// The request as the script left it.
    pub request: Value,
    /// The variables as the script left them; absent when it was stopped.
    #[serde(default)]
    pub scopes: Option<ScopeValues>,
}

/// What `setNextRequest` was called with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<String>", into = "Option<String>")]
pub enum NextRequest {
    /// It was not called: the following request is next.
    #[default]
    Following,
    /// With null: none is.
    End,
    /// With this name or id.
    Named(String),
}

impl From<Option<String>> for NextRequest {
    fn from(name: Option<String>) -> Self {
        name.map_or(Self::End, Self::Named)
    }
}

impl From<NextRequest> for Option<String> {
    fn from(next: NextRequest) -> Self {
        match next {
            NextRequest::Named(name) => Some(name),
            NextRequest::Following | NextRequest::End => None,
        }
    }
}

impl NextRequest {
    const fn is_following(&self) -> bool {
        matches!(self, Self::Following)
    }
}

/// Names and values of a scope, in order.
pub type ScopeEntries = Vec<(String, Value)>;

/// The values of the scopes that scripts may change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScopeValues {
    /// Of the request and its scripts.
    pub local: ScopeEntries,
    /// Of the environment.
    pub environment: ScopeEntries,
    /// Of the collection.
    pub collection: ScopeEntries,
    /// Of everything.
    pub globals: ScopeEntries,
}

/// A test of a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptTest {
    /// Its name.
    pub name: String,
    /// Whether it passed.
    pub passed: bool,
    /// Whether it was left out.
    pub skipped: bool,
    /// Why it failed.
    pub error: Option<ScriptError>,
}

/// An error that a script threw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptError {
    /// The name of its class.
    pub name: String,
    /// Its message.
    pub message: String,
    /// The line of the script, from 1.
    pub line: Option<u32>,
    /// Whether it was stopped since its time was over.
    #[serde(default)]
    pub is_timeout: bool,
}

impl std::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name, self.message)?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

/// A line of the console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleLine {
    /// `log`, `info`, `warn`, `error` or `debug`.
    pub level: String,
    /// Its text.
    pub text: String,
}
