//! Reads the query of the list, as far as who looks at it may use it.

use crate::domain::{CustomerId, StoreError};
use crate::service::{ListQuery, MonitorReader, StatusBoard, StatusQuery};
use crate::web::page_state::PageState;
use crate::web::viewer::Viewer;

/// What the paths of views begin with; their id or name follows.
pub(in crate::web) const VIEWS_PATH: &str = "/views/";

/// Reads a query as in an address after the `?`. Recipients and the values of custom properties are no business of
/// somebody who is not signed in.
pub(super) fn read_query(text: &str, viewer: &Viewer) -> ListQuery {
    let query = ListQuery::parse(text);
    if viewer.caller.is_some() { query } else { query.without_account_data() }
}

/// Returns what is read for `query` from `board`, without limits; `is_known` holds for the accounts whose recipients the
/// reader may know.
pub(in crate::web) async fn to_status_query(
    query: &ListQuery,
    monitor_reader: &MonitorReader,
    board: &StatusBoard,
    is_known: impl Fn(CustomerId) -> bool,
) -> Result<StatusQuery, StoreError> {
    let of_recipient = match query.recipient {
        Some(recipient) => Some(monitor_reader.monitors_of_recipient(board, recipient, is_known).await?),
        None => None,
    };
    let properties: Vec<_> = query.properties.iter().chain(&query.exact_properties).cloned().collect();
    Ok(StatusQuery {
        status: query.status,
        monitor_type: query.monitor_type,
        location: query.location,
        only_down: query.only_down,
        of_recipient,
        search_text: query.search_text.clone(),
        properties: monitor_reader.property_filters(board, &properties).await?,
        order: query.order,
        limit: usize::MAX,
        offset: 0,
    })
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
    Ok(saved.map(|saved| {
        let stored = ListQuery::parse(&saved.query);
        ListView {
            query: ListQuery {
                view: Some(saved.id),
                // The lists that it leads to show the same monitors, whichever location the person looks at.
                at_all_locations: stored.location.is_none(),
                page_number: query.page_number,
                ..stored
            },
            name: Some(saved.name),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::viewer::test_viewer;

    #[test]
    fn who_is_not_signed_in_learns_nothing_about_recipients_and_properties() {
        let query = read_query("recipient=7&group=team&q=a", &test_viewer());
        assert_eq!(query.to_path(), "/?q=a");
    }
}
