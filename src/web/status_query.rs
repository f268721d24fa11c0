//! The query of the list of monitors: which monitors it shows.

use axum::http::Uri;

use crate::domain::{MonitorType, StoreError};
use crate::service::{MonitorReader, MonitorStatus, StatusBoard, StatusQuery};

/// Most values of custom properties in a query.
const MAX_PROPERTIES: usize = 20;

/// The query of the page. Unknown values are ignored: a page is not an API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StatusPageQuery {
    pub(super) status: Option<MonitorStatus>,
    pub(super) monitor_type: Option<MonitorType>,
    pub(super) search_text: String,
    /// Values of custom properties, each `name:value`.
    pub(super) properties: Vec<String>,
    pub(super) page_number: usize,
}

impl StatusPageQuery {
    /// Reads the query of `uri`.
    pub(super) fn from_uri(uri: &Uri) -> Self {
        let mut query = Self { page_number: 1, ..Self::default() };
        for (name, value) in url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
            match &*name {
                "standing" => query.status = MonitorStatus::parse(&value),
                "type" => query.monitor_type = MonitorType::from_name(&value),
                "q" => query.search_text = value.trim().chars().take(255).collect(),
                "property" => {
                    let texts = value.split(',').map(str::trim).filter(|text| !text.is_empty());
                    query.properties.extend(texts.map(str::to_owned));
                    query.properties.truncate(MAX_PROPERTIES);
                }
                "page" => query.page_number = value.parse().unwrap_or(1).max(1),
                _ => {}
            }
        }
        query
    }

    /// Whether only monitors of this type are shown.
    pub(super) fn is_of(&self, monitor_type: MonitorType) -> bool {
        self.monitor_type == Some(monitor_type)
    }

    /// Returns what is read for this query from `board`, without limits.
    pub(super) async fn to_status_query(
        &self,
        monitor_reader: &MonitorReader,
        board: &StatusBoard,
    ) -> Result<StatusQuery, StoreError> {
        Ok(StatusQuery {
            status: self.status,
            monitor_type: self.monitor_type,
            search_text: self.search_text.clone(),
            properties: monitor_reader.property_filters(board, &self.properties).await?,
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
        Self { page_number: 1, ..self.clone() }.to_path_below("/monitors.csv")
    }

    fn to_path_below(&self, path: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        let parameters = [
            ("standing", self.status.map(|status| status.as_str().to_owned())),
            ("type", self.monitor_type.map(|monitor_type| monitor_type.name().to_owned())),
            ("q", Some(self.search_text.clone()).filter(|text| !text.is_empty())),
            ("property", Some(self.properties.join(",")).filter(|text| !text.is_empty())),
            ("page", Some(self.page_number.to_string()).filter(|_| self.page_number > 1)),
        ];
        for (name, value) in parameters {
            if let Some(value) = value {
                query.append_pair(name, &value);
            }
        }
        match query.finish() {
            query if query.is_empty() => path.to_owned(),
            query => format!("{path}?{query}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_survives_its_address() {
        let address = "/?standing=error&type=website-ssl&q=a+%26+b&property=team%3Aa%2Cenv%3Ab&page=3";
        let query = StatusPageQuery::from_uri(&address.parse().unwrap());
        assert_eq!(query.properties, ["team:a", "env:b"]);
        let repeated = StatusPageQuery::from_uri(&"/?property=team:a&property=env:b".parse().unwrap());
        assert_eq!(repeated.properties, query.properties);
        assert_eq!((query.search_text.as_str(), query.page_number), ("a & b", 3));
        assert_eq!(query.to_path(), address);
        assert_eq!(StatusPageQuery::from_uri(&"/?page=0&standing=odd".parse().unwrap()).to_path(), "/");
    }
}
