//! The settings of `browserscript`.

use serde::Deserialize;

/// A script that runs in a browser.
#[derive(Clone, Debug, Deserialize)]
pub struct BrowserSettings<'a> {
    /// The page, or the base of the script's URLs.
    pub url: Option<&'a str>,
    /// The script.
    pub script: Option<&'a str>,
    /// The browser; `None` for any that the location has.
    pub browser: Option<BrowserType>,
    /// Content views: parts of the script with a status of their own.
    #[serde(borrow)]
    pub content_views: Vec<ContentViewSettings<'a>>,
    /// Whether the script continues after a step that timed out.
    pub continue_playback_on_timeout: bool,
    /// When the keyword is checked.
    pub keyword_action: KeywordAction,
    /// Id of a profile of the settings; 0 for none.
    pub subtype: Option<i64>,
    /// Whether failed documents of other domains fail the step.
    pub third_party_document_errors: bool,
    /// Whether requests to the script's site carry a W3C traceparent.
    pub transaction_trace: bool,
    /// Whether paint, layout shift and load of each step are recorded.
    pub user_experience_enabled: bool,
    /// Whether these are recorded for the top document only.
    pub user_experience_base_page_only: bool,
    /// What is captured of the pages.
    pub capture: CaptureSettings,
    /// Maximum number of steps of the script.
    pub transaction_steps_allowed: i64,
}

/// The time limit of a step.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct StepTimeoutSettings {
    /// Seconds that a step may take; 0 for no limit of its own.
    pub step_timeout: Option<u16>,
}

/// A browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum BrowserType {
    /// Mozilla Firefox.
    Firefox,
    /// Google Chrome.
    #[serde(rename = "Google Chrome")]
    Chrome,
    /// Internet Explorer.
    #[serde(rename = "Internet Explorer")]
    InternetExplorer,
}

/// When the keyword is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum KeywordAction {
    /// Once.
    #[serde(rename = "Generate an error")]
    CheckOnce,
    /// Again and again, until it appears or the time is over.
    #[serde(rename = "Continue waiting")]
    WaitUntilFound,
}

/// What is captured of a page, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct CaptureSettings {
    /// When captures are taken.
    pub level: CaptureLevel,
    /// Format of screenshots.
    pub mimetype: ScreenshotFormat,
    /// Whether HTTP headers are captured.
    pub headers: bool,
    /// Whether a screenshot is captured.
    pub images: bool,
    /// Whether the source of the page is captured.
    pub sources: bool,
}

/// When a page is captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum CaptureLevel {
    /// Never.
    Disabled,
    /// When the script failed.
    #[serde(rename = "Error Only")]
    ErrorOnly,
    /// After each step (`Action` in the API), when the script failed.
    #[serde(rename = "All Actions on Error")]
    EachStepOnError,
    /// After each step (`Action` in the API).
    #[serde(rename = "All Actions")]
    EachStep,
    /// After each action of a step (`Event` in the API), when the script failed.
    #[serde(rename = "All Events on Error")]
    EachActionOnError,
    /// After each action of a step (`Event` in the API).
    #[serde(rename = "All Events")]
    EachAction,
}

/// Format of screenshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum ScreenshotFormat {
    /// JPEG.
    #[serde(rename = "image/jpeg")]
    Jpeg,
    /// PNG.
    #[serde(rename = "image/png")]
    Png,
}

/// A part of a script with a status and alerts of its own.
#[derive(Clone, Debug, Deserialize)]
pub struct ContentViewSettings<'a> {
    /// Its id.
    pub id: i64,
    /// Whether its errors alert.
    pub notify_on_error: bool,
    /// Whether errors of the script count as its own.
    pub inherit_global_errors: bool,
    /// Display name.
    pub name: Option<&'a str>,
    /// Objects whose URL matches one of these belong to it.
    #[serde(borrow)]
    pub url_patterns: Vec<&'a str>,
    /// Steps of the script that belong to it.
    pub steps: Vec<u64>,
}
