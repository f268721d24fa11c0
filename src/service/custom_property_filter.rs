//! Selects monitors by values of custom properties, such as `team:a`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::catalog::{AccountCache, PropertyDefinition};
use crate::domain::CustomerId;
use crate::schema::Monitor;
use crate::service::caller::{Caller, ServiceError};
use crate::store::StoreError;
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind, truncate_value};

/// Most values of one filter.
const MAX_VALUES: usize = 20;

/// A property and one of its values, by their ids.
type PropertyValue = (i64, i64);

/// Selects the monitors of one account that have all of these values.
#[derive(Clone, Debug, Default)]
pub struct CustomPropertyFilter {
    /// For each text of the query, the values that it names. Names may contain colons, so a text can name several.
    required: Vec<BTreeSet<PropertyValue>>,
}

impl CustomPropertyFilter {
    /// Resolves `texts`, each `name:value`, with the properties of an account.
    fn new(texts: &[String], properties: &BTreeMap<i64, PropertyDefinition>) -> Self {
        let matching_values = |text: &String| {
            let values = properties.iter().flat_map(|(id, property)| {
                let value_text = text.strip_prefix(&*property.name).and_then(|rest| rest.strip_prefix(':'));
                let values =
                    property.values.iter().filter(move |(_, value)| value_text == Some(value.as_str()));
                values.map(|(value_id, _)| (*id, *value_id))
            });
            values.collect()
        };
        Self { required: texts.iter().map(matching_values).collect() }
    }

    /// Whether `monitor`, of the account, has all values.
    #[must_use]
    pub fn matches(&self, monitor: &Monitor) -> bool {
        let values: Vec<PropertyValue> =
            monitor.document.custom_properties().map(|value| (value.id, value.value_id)).collect();
        self.matches_values(&values)
    }

    /// Whether a monitor of the account with these values has all that are asked for.
    fn matches_values(&self, values: &[PropertyValue]) -> bool {
        self.required.iter().all(|required| values.iter().any(|value| required.contains(value)))
    }
}

/// Resolves `texts` for the account of `caller`.
///
/// # Errors
/// [`ServiceError::Invalid`] for a text without a value, a property that the account does not have, and too many
/// texts; errors of the store.
pub async fn property_filter(
    account_cache: &AccountCache,
    caller: &Caller,
    texts: &[String],
) -> Result<CustomPropertyFilter, ServiceError> {
    let account = account_cache.account(caller.customer).await?;
    let has_property = |text: &str| {
        let mut names = account.properties.values().map(|property| &*property.name);
        names.any(|name| text.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')))
    };
    let problem = |text: &String| {
        let shown = truncate_value(text);
        if !text.contains(':') {
            return Some(format!("`property` must be a name and a value, such as `team:a`, not `{shown}`"));
        }
        (!has_property(text)).then(|| {
            format!(
                "`property`: `{shown}` names no custom property of the account; `GET /properties` lists them"
            )
        })
    };
    let mut problems: Vec<String> = texts.iter().filter_map(problem).collect();
    if texts.len() > MAX_VALUES {
        problems = vec![format!("`property` may be given at most {MAX_VALUES} times")];
    }
    if problems.is_empty() {
        return Ok(CustomPropertyFilter::new(texts, &account.properties));
    }
    let to_error =
        |message| ValidationError::new(ValidationErrorKind::Format, "property", Position::default(), message);
    Err(ServiceError::Invalid(problems.into_iter().map(to_error).collect()))
}

/// Selects monitors of several accounts, those of each by a filter of its own; `None` selects all.
#[derive(Clone, Debug, Default)]
pub struct CustomPropertyFilters(Option<HashMap<CustomerId, CustomPropertyFilter>>);

impl CustomPropertyFilters {
    /// Resolves `texts` for each of `customers`. What an account does not have selects none of its monitors.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub(super) async fn resolve(
        account_cache: &AccountCache,
        customers: &BTreeSet<CustomerId>,
        texts: &[String],
    ) -> Result<Self, StoreError> {
        let texts = &texts[..texts.len().min(MAX_VALUES)];
        let mut filters = HashMap::with_capacity(customers.len());
        for &customer in customers {
            let account = account_cache.account(customer).await?;
            filters.insert(customer, CustomPropertyFilter::new(texts, &account.properties));
        }
        Ok(Self(Some(filters)))
    }

    /// Whether every monitor is selected.
    pub(super) fn match_all(&self) -> bool {
        self.0.is_none()
    }

    /// Selects no monitor.
    pub(super) fn matching_no_monitor() -> Self {
        Self(Some(HashMap::new()))
    }

    /// Whether a monitor of `customer` with these values is selected.
    pub(super) fn matches(&self, customer: CustomerId, values: &[PropertyValue]) -> bool {
        self.0
            .as_ref()
            .is_none_or(|filters| filters.get(&customer).is_some_and(|filter| filter.matches_values(values)))
    }
}
