//! Reads the query of the list, as far as who looks at it may use it.

use super::saved::VIEWS_PATH;
use crate::domain::StoreError;
use crate::service::ListQuery;
use crate::web::page_state::PageState;
use crate::web::viewer::Viewer;

/// Reads a query as in an address after the `?`. Recipients and the values of custom properties are no business of
/// somebody who is not signed in.
pub(super) fn read_query(text: &str, viewer: &Viewer) -> ListQuery {
    let query = ListQuery::parse(text);
    if viewer.caller.is_some() { query } else { query.without_account_data() }
}

/// What the list shows: a query, and the name of the saved view that it is.
pub(super) struct ListView {
    pub(super) query: ListQuery,
    /// `None` for a list that is no saved view.
    pub(super) name: Option<String>,
}

/// Reads what the list at `path`, with the query `text`, shows; `None` for a view that does not exist.
pub(super) async fn read_view(
    state: &PageState,
    viewer: &Viewer,
    path: &str,
    text: &str,
) -> Result<Option<ListView>, StoreError> {
    let query = read_query(text, viewer);
    let Some(view) = path.strip_prefix(VIEWS_PATH) else {
        return Ok(Some(ListView { query, name: None }));
    };
    let name = percent_encoding::percent_decode_str(view).decode_utf8_lossy();
    let saved = match &viewer.caller {
        Some(caller) => state.monitor_reader.saved_view(caller, &name).await?,
        None => None,
    };
    Ok(saved.map(|saved| ListView {
        query: ListQuery {
            view: Some(saved.id),
            page_number: query.page_number,
            ..ListQuery::parse(&saved.query)
        },
        name: Some(saved.name),
    }))
}
