//! The query of the list of monitors: which monitors it shows, and how.

use axum::http::Uri;

use super::columns::Columns;
use crate::domain::{LocationId, MonitorType, RecipientId, StoreError};
use crate::service::{MonitorReader, MonitorStatus, StatusBoard, StatusOrder, StatusQuery};
use crate::web::viewer::Viewer;

/// Most values of custom properties in a query.
const MAX_PROPERTIES: usize = 20;
/// Most characters of a text in a query.
const MAX_TEXT: usize = 255;

/// The query of the list. Unknown values are ignored: a page is not an API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListQuery {
    pub(super) status: Option<MonitorStatus>,
    pub(super) monitor_type: Option<MonitorType>,
    pub(super) location: Option<LocationId>,
    pub(super) recipient: Option<RecipientId>,
    pub(super) only_down: bool,
    pub(super) search_text: String,
    /// Values of custom properties, each `name:value`, as a person types them: separated by commas.
    pub(super) properties: Vec<String>,
    /// Further ones, each as it is: a value may hold anything.
    pub(super) exact_properties: Vec<String>,
    pub(super) order: StatusOrder,
    /// Name of the custom property by which monitors are grouped; empty for a list without groups.
    pub(super) group: String,
    pub(super) columns: Columns,
    pub(super) page_number: usize,
}

impl ListQuery {
    /// Reads the query of `uri`, as far as `viewer` may use it.
    pub(super) fn from_uri(uri: &Uri, viewer: &Viewer) -> Self {
        Self::from_text(uri.query().unwrap_or_default(), viewer)
    }

    /// Like [`Self::from_uri`], for a query as in an address after the `?`. Recipients and the values of custom properties
    /// are no business of somebody who is not signed in.
    pub(super) fn from_text(text: &str, viewer: &Viewer) -> Self {
        let query = Self::parse(text);
        match viewer.caller {
            Some(_) => query,
            None => Self { recipient: None, group: String::new(), ..query },
        }
    }

    fn parse(text: &str) -> Self {
        let mut query = Self { page_number: 1, ..Self::default() };
        let mut columns = Vec::new();
        for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
            let texts = || value.split(',').map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
            match &*name {
                "standing" => query.status = MonitorStatus::parse(&value),
                "type" => query.monitor_type = MonitorType::from_name(&value),
                "location" => query.location = value.parse().ok().map(LocationId),
                "recipient" => query.recipient = value.parse().ok().map(RecipientId),
                "down" => query.only_down = value == "1",
                "q" => query.search_text = value.trim().chars().take(MAX_TEXT).collect(),
                "property" => {
                    query.properties.extend(texts());
                    query.properties.truncate(MAX_PROPERTIES);
                }
                "has" if query.exact_properties.len() < MAX_PROPERTIES => {
                    query.exact_properties.push(value.into_owned());
                }
                "sort" => query.order = StatusOrder::parse(&value).unwrap_or_default(),
                "group" => query.group = value.trim().chars().take(MAX_TEXT).collect(),
                "column" => columns.extend(texts()),
                "page" => query.page_number = value.parse().unwrap_or(1).max(1),
                _ => {}
            }
        }
        if !columns.is_empty() {
            query.columns = Columns::from_names(columns.iter().map(String::as_str));
        }
        query
    }

    /// Whether only monitors of this type are shown.
    pub(super) fn is_of(&self, monitor_type: MonitorType) -> bool {
        self.monitor_type == Some(monitor_type)
    }

    /// Whether this is a choice beyond search, type and property.
    pub(super) fn has_more(&self) -> bool {
        let Self { location, recipient, only_down, order, group, columns, .. } = self;
        location.is_some()
            || recipient.is_some()
            || *only_down
            || *order != StatusOrder::default()
            || !group.is_empty()
            || *columns != Columns::default()
    }

    /// Returns what is read for this query from `board`, without limits.
    pub(super) async fn to_status_query(
        &self,
        monitor_reader: &MonitorReader,
        board: &StatusBoard,
        viewer: &Viewer,
    ) -> Result<StatusQuery, StoreError> {
        let is_known = |customer| viewer.knows_account(customer);
        let of_recipient = match self.recipient {
            Some(recipient) => Some(monitor_reader.monitors_of_recipient(board, recipient, is_known).await?),
            None => None,
        };
        let properties: Vec<_> = self.properties.iter().chain(&self.exact_properties).cloned().collect();
        Ok(StatusQuery {
            status: self.status,
            monitor_type: self.monitor_type,
            location: self.location,
            only_down: self.only_down,
            of_recipient,
            search_text: self.search_text.clone(),
            properties: monitor_reader.property_filters(board, &properties).await?,
            order: self.order,
            limit: usize::MAX,
            offset: 0,
        })
    }

    /// Returns the path of the page with this query.
    pub(super) fn to_path(&self) -> String {
        self.to_path_below("/")
    }

    /// Returns the path of the file with all monitors of this query.
    pub(super) fn to_csv_path(&self) -> String {
        let unpaged =
            Self { page_number: 1, group: String::new(), columns: Columns::default(), ..self.clone() };
        unpaged.to_path_below("/monitors.csv")
    }

    fn to_path_below(&self, path: &str) -> String {
        match self.to_text() {
            query if query.is_empty() => path.to_owned(),
            query => format!("{path}?{query}"),
        }
    }

    /// Returns the query as in an address after the `?`, without what is at its default.
    pub(super) fn to_text(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let parameters = [
            ("standing", self.status.map(|status| status.as_str().to_owned())),
            ("type", self.monitor_type.map(|monitor_type| monitor_type.name().to_owned())),
            ("location", self.location.map(|location| location.to_string())),
            ("recipient", self.recipient.map(|recipient| recipient.to_string())),
            ("down", self.only_down.then(|| "1".to_owned())),
            ("q", text(&self.search_text)),
            ("property", text(&self.properties.join(","))),
            ("sort", Some(self.order.as_str().to_owned()).filter(|_| self.order != StatusOrder::default())),
            ("group", text(&self.group)),
            ("column", self.columns.names()),
            ("page", Some(self.page_number.to_string()).filter(|_| self.page_number > 1)),
        ];
        let exact = self.exact_properties.iter().map(|text| ("has", Some(text.clone())));
        for (name, value) in parameters.into_iter().chain(exact) {
            if let Some(value) = value {
                query.append_pair(name, &value);
            }
        }
        query.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::viewer::test_viewer;

    #[test]
    fn a_query_survives_its_address() {
        let address = "/?standing=error&type=website-ssl&location=3&recipient=7&down=1&q=a+%26+b\
            &property=team%3Aa%2Cenv%3Ab&sort=name&group=team&column=id%2Csince&page=3&has=city%3AParis%2C+FR";
        let query = ListQuery::parse(address.strip_prefix("/?").unwrap());
        assert_eq!(query.properties, ["team:a", "env:b"]);
        assert_eq!(query.exact_properties, ["city:Paris, FR"]);
        let repeated = ListQuery::parse("property=team:a&property=env:b&column=since&column=id");
        assert_eq!((&repeated.properties, &repeated.columns), (&query.properties, &query.columns));
        assert_eq!((query.search_text.as_str(), query.page_number), ("a & b", 3));
        assert_eq!(query.to_path(), address);
        let odd = ListQuery::parse("page=0&standing=odd&sort=odd&location=x");
        assert_eq!(odd.to_path(), "/");
    }

    #[test]
    fn who_is_not_signed_in_learns_nothing_about_recipients_and_properties() {
        let query = ListQuery::from_text("recipient=7&group=team&q=a", &test_viewer());
        assert_eq!(query.to_path(), "/?q=a");
    }
}
