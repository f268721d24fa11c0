//! The query of the list of monitors: which monitors it shows, and how.

use super::list_columns::{Column, Columns};
use super::status_query::StatusOrder;
use super::status_row::MonitorStatus;
use crate::domain::{LocationId, MonitorType, RecipientId};

/// Most values of custom properties in a query.
const MAX_PROPERTIES: usize = 20;
/// Most characters of a text in a query.
const MAX_TEXT: usize = 255;
/// The name of no column, which tells a choice of none from no choice.
const NO_COLUMN: &str = "none";

/// Value of `location` in an address for all locations.
pub const ALL_LOCATIONS: &str = "all";

/// The query of the list of monitors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// The saved view that it is, as long as nothing but the page of the list differs.
    pub view: Option<i64>,
    /// State.
    pub status: Option<MonitorStatus>,
    /// Type.
    pub monitor_type: Option<MonitorType>,
    /// Location that has checked the monitor.
    pub location: Option<LocationId>,
    /// Whether the person asked for all locations; then the location of the preferences does not apply.
    pub at_all_locations: bool,
    /// Recipient that can be told about the monitor.
    pub recipient: Option<RecipientId>,
    /// Only monitors with an open outage.
    pub only_down: bool,
    /// Part of the name, the address or the key, or the id.
    pub search_text: String,
    /// Values of custom properties, each `name:value`, as a person types them: separated by commas.
    pub properties: Vec<String>,
    /// Further ones, each as it is: a value may hold anything.
    pub exact_properties: Vec<String>,
    /// Order.
    pub order: StatusOrder,
    /// Name of the custom property by which monitors are grouped; empty for a list without groups.
    pub group: String,
    /// The columns that are shown.
    pub columns: Columns,
    /// Page of the list, from 1.
    pub page_number: usize,
}

impl ListQuery {
    /// Reads a query as in an address after the `?`. Unknown parts are ignored: a page is not an API.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::parse_strictly(text).0
    }

    /// Like [`Self::parse`]; also returns the parts that are ignored, each as `name=value`. Empty values, which forms send,
    /// are none of them.
    #[must_use]
    pub fn parse_strictly(text: &str) -> (Self, Vec<String>) {
        let mut query = Self { page_number: 1, ..Self::default() };
        let (mut columns, mut unknown) = (Vec::new(), Vec::new());
        for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
            let texts = || value.split(',').map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
            let is_short = || value.trim().chars().count() <= MAX_TEXT;
            let is_known = match &*name {
                "standing" => keep(&mut query.status, MonitorStatus::parse(&value)),
                "type" => keep(&mut query.monitor_type, MonitorType::from_name(&value)),
                "location" if value == ALL_LOCATIONS => {
                    query.at_all_locations = true;
                    true
                }
                "location" => keep(&mut query.location, value.parse().ok().map(LocationId)),
                "recipient" => keep(&mut query.recipient, value.parse().ok().map(RecipientId)),
                "down" => {
                    query.only_down = value == "1";
                    query.only_down
                }
                "q" => {
                    query.search_text = value.trim().chars().take(MAX_TEXT).collect();
                    is_short()
                }
                "property" => {
                    query.properties.extend(texts());
                    let fits = query.properties.len() <= MAX_PROPERTIES;
                    query.properties.truncate(MAX_PROPERTIES);
                    fits
                }
                "has" => {
                    query.exact_properties.push(value.to_string());
                    let fits = query.exact_properties.len() <= MAX_PROPERTIES;
                    query.exact_properties.truncate(MAX_PROPERTIES);
                    fits
                }
                "sort" => {
                    let order = StatusOrder::parse(&value);
                    query.order = order.unwrap_or_default();
                    order.is_some()
                }
                "group" => {
                    query.group = value.trim().chars().take(MAX_TEXT).collect();
                    is_short()
                }
                "column" => {
                    columns.extend(texts());
                    texts().all(|column| column == NO_COLUMN || Column::parse(&column).is_some())
                }
                "page" => {
                    let number = value.parse().ok().filter(|number| *number > 0);
                    query.page_number = number.unwrap_or(1);
                    number.is_some()
                }
                _ => {
                    unknown.push(format!("{name}={value}"));
                    continue;
                }
            };
            if !is_known && !value.is_empty() {
                unknown.push(format!("{name}={value}"));
            }
        }
        if !columns.is_empty() {
            query.columns = Columns::from_names(columns.iter().map(String::as_str));
        }
        (query, unknown)
    }

    /// Returns the query without what is about an account alone: its recipients, and the values of its custom properties.
    #[must_use]
    pub fn without_account_data(self) -> Self {
        Self { recipient: None, group: String::new(), ..self }
    }

    /// Whether only monitors of this type are shown.
    #[must_use]
    pub fn is_of(&self, monitor_type: MonitorType) -> bool {
        self.monitor_type == Some(monitor_type)
    }

    /// Whether this is a choice beyond search, type and property.
    #[must_use]
    pub fn has_more(&self) -> bool {
        let Self { location, recipient, only_down, order, group, columns, .. } = self;
        location.is_some()
            || recipient.is_some()
            || *only_down
            || *order != StatusOrder::default()
            || !group.is_empty()
            || *columns != Columns::default()
    }

    /// Returns the path of the page with this query.
    #[must_use]
    pub fn to_path(&self) -> String {
        match self.view {
            Some(view) if self.page_number > 1 => format!("/views/{view}?page={}", self.page_number),
            Some(view) => format!("/views/{view}"),
            None => self.to_path_below("/"),
        }
    }

    /// Returns the path of the file with all monitors of this query.
    #[must_use]
    pub fn to_csv_path(&self) -> String {
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

    fn location_text(&self) -> Option<String> {
        let chosen = self.location.map(|location| location.to_string());
        chosen.or_else(|| self.at_all_locations.then(|| ALL_LOCATIONS.to_owned()))
    }

    /// Returns the query as in an address after the `?`, without what is at its default.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let parameters = [
            ("standing", self.status.map(|status| status.as_str().to_owned())),
            ("type", self.monitor_type.map(|monitor_type| monitor_type.name().to_owned())),
            ("location", self.location_text()),
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

/// Keeps what was read, and tells whether there was something.
fn keep<T>(place: &mut Option<T>, read: Option<T>) -> bool {
    *place = read;
    place.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(ListQuery::parse("location=all").to_path(), "/?location=all");
        let odd = ListQuery::parse("page=0&standing=odd&sort=odd&location=x");
        assert_eq!(odd.to_path(), "/");
    }

    #[test]
    fn what_the_list_would_ignore_is_named() {
        let unknown = |text| ListQuery::parse_strictly(text).1;
        let form = "q=&type=&property=&location=&sort=urgency&column=none&column=id";
        assert_eq!(unknown(form), [] as [&str; 0]);
        let odd = "standing=odd&type=x&location=a&down=2&sort=z&column=id,w&page=0&tpye=website&q=ok&colour=";
        let named = [
            "standing=odd",
            "type=x",
            "location=a",
            "down=2",
            "sort=z",
            "column=id,w",
            "page=0",
            "tpye=website",
            "colour=",
        ];
        assert_eq!(unknown(odd), named);
        assert_eq!(unknown(&format!("q={}", "x".repeat(MAX_TEXT + 1))).len(), 1);
    }

    #[test]
    fn a_view_keeps_its_address_over_pages() {
        let view = ListQuery { view: Some(7), ..ListQuery::parse("type=website&page=2") };
        assert_eq!(view.to_path(), "/views/7?page=2");
        assert_eq!(view.to_csv_path(), "/monitors.csv?type=website");
    }
}
