//! The steps, content views, browser and page of a check.

use super::browser::BrowserView;
use super::content_view_rows::ContentViewRow;
use super::page::PageView;
use super::steps::StepView;
use crate::domain::CheckDetails;

/// The details of a check, in display order.
#[derive(Clone, Debug, PartialEq)]
pub struct DetailsView<'a> {
    /// The steps.
    pub steps: Vec<StepView<'a>>,
    /// Content views of a script.
    pub content_views: Vec<ContentViewRow<'a>>,
    /// The browser that ran a script.
    pub browser: Option<BrowserView<'a>>,
    /// The page with its objects.
    pub page: Option<PageView<'a>>,
}

impl<'a> DetailsView<'a> {
    /// Builds the view of `details`.
    #[must_use]
    pub fn new(details: &'a CheckDetails) -> Self {
        Self {
            steps: details.steps.iter().map(StepView::new).collect(),
            content_views: details.content_views.iter().map(ContentViewRow::new).collect(),
            browser: details.browser.as_deref().map(BrowserView::new),
            page: details.page_load.as_deref().map(PageView::new),
        }
    }
}
