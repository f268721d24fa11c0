//! The time zones of a form. A date with a time is read in the zone of the person who typed it, and stored in that of the
//! account; a time of the day of each week belongs to the zone of the account, whose clocks it follows.

use std::collections::HashMap;

use super::form_fields::shown_fields;
use super::input_names::{item_path, member_path};
use super::nested_values::{is_shown_by_field, item_count};
use super::text_from_values::FormTexts;
use crate::schema::field::{Field, FieldType};
use crate::schema::table::FieldTable;
use crate::syntax::node::Position;
use crate::syntax::text_format::TextFormat;
use crate::syntax::{ValidationError, ValidationErrorKind};
use crate::texts::{WallTime, Zone};
use crate::web::preferences::Preferences;

/// The time zones of a form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FormZones {
    /// That of dates with a time.
    pub(super) dates: Zone,
    /// That of the account.
    pub(super) account: Zone,
}

impl FormZones {
    /// Returns the zones of the forms of somebody with these preferences.
    pub(super) fn new(preferences: &Preferences) -> Self {
        Self { dates: preferences.locale().zone, account: preferences.account_zone() }
    }

    /// Returns the zone that the texts of `field` are in; `None` for texts without times. Values in YAML are as in the API.
    pub(super) fn zone_of(self, field_type: &FieldType, is_yaml: bool) -> Option<Zone> {
        match field_type {
            FieldType::Text { format: TextFormat::LocalDateTime, .. } => Some(self.dates),
            FieldType::Text { format: TextFormat::TimeOfDay, .. } => Some(self.account),
            FieldType::Object(table) | FieldType::List { item_type: FieldType::Object(table), .. }
                if is_yaml && has_times(table) =>
            {
                Some(self.account)
            }
            _ => None,
        }
    }

    /// Whether `field` is a date with a time.
    pub(super) fn is_date(field: &Field) -> bool {
        matches!(field.field_type, FieldType::Text { format: TextFormat::LocalDateTime, .. })
    }

    /// Returns the text for a stored time; what is no time stays as it is.
    pub(super) fn shown_time(self, stored: &str) -> String {
        match self.account.read(stored) {
            Some(time) if self.dates != self.account => self.dates.format(time.moment()),
            _ => stored.to_owned(),
        }
    }

    /// Returns what a form shows for the texts that are `stored`.
    pub(super) fn shown_texts(self, fields: &[&'static Field], stored: FormTexts) -> FormTexts {
        let mut shown = stored;
        for path in date_paths(fields, &shown) {
            if let Some(text) = shown.get_mut(&path) {
                *text = self.shown_time(text);
            }
        }
        shown
    }

    /// Returns what is to be stored for the `typed` texts. A text that the form showed for a time of `stored` stays that time.
    ///
    /// # Errors
    /// Each time that the clocks skip or repeat, in the zone of dates or in that of the account: which moment it is cannot be
    /// told, or not be stored.
    pub(super) fn stored_texts(
        self,
        fields: &[&'static Field],
        typed: &FormTexts,
        stored: &FormTexts,
    ) -> Result<FormTexts, Vec<ValidationError>> {
        let mut texts = typed.clone();
        if self.dates == self.account {
            return Ok(texts);
        }
        // By their path first: two times may look the same in one zone. An item that moved is found by what it shows.
        let paths = date_paths(fields, stored);
        let times = paths.iter().filter_map(|path| Some((path.clone(), stored.get(path)?.as_str())));
        let by_path: HashMap<String, &str> = times.collect();
        // `None` for a text that two times show.
        let mut by_text: HashMap<String, Option<&str>> = HashMap::new();
        for text in by_path.values() {
            let known = by_text.entry(self.shown_time(text)).or_insert(Some(text));
            *known = known.filter(|known| known == text);
        }
        let mut errors = Vec::new();
        for path in date_paths(fields, typed) {
            let Some(text) = texts.get_mut(&path) else { continue };
            let at_path = by_path.get(&path).filter(|stored| self.shown_time(stored) == *text);
            if let Some(stored) = at_path.copied().or_else(|| by_text.get(text.as_str()).copied().flatten()) {
                stored.clone_into(text);
                continue;
            }
            match self.stored_time(text) {
                Ok(stored) => *text = stored,
                Err(reason) => {
                    let message = format!("`{path}`: `{text}` {reason}; choose another time");
                    let (kind, position) = (ValidationErrorKind::Format, Position::default());
                    errors.push(ValidationError::new(kind, &path, position, message));
                }
            }
        }
        if errors.is_empty() { Ok(texts) } else { Err(errors) }
    }

    /// Returns a time in the zone of the account, or why it has none; what is no time stays as it is, for the rule about it.
    fn stored_time(self, typed: &str) -> Result<String, String> {
        let (zone, account) = (self.dates.name(), self.account.name());
        let moment = match self.dates.read(typed) {
            None => return Ok(typed.to_owned()),
            Some(WallTime::Once(moment)) => moment,
            Some(WallTime::Twice(_)) => {
                return Err(format!("is there twice in {zone}, since the clocks go back"));
            }
            Some(WallTime::Never(_)) => return Err(format!("is skipped by the clocks of {zone}")),
        };
        let stored = self.account.format(moment);
        match self.account.read(&stored) {
            Some(WallTime::Once(_)) => Ok(stored),
            _ => Err(format!("is `{stored}` in {account}, the zone of the account, and that is there twice")),
        }
    }
}

fn has_times(table: &'static FieldTable) -> bool {
    shown_fields(table).any(|field| {
        let format = match field.field_type {
            FieldType::Text { format, .. } => Some(format),
            _ => None,
        };
        matches!(format, Some(TextFormat::LocalDateTime | TextFormat::TimeOfDay))
    })
}

/// Returns the paths of the inputs that hold dates.
fn date_paths(fields: &[&'static Field], texts: &FormTexts) -> Vec<String> {
    let mut paths = Vec::new();
    for field in fields {
        add_date_paths(field, field.name, texts, &mut paths);
    }
    paths
}

fn add_date_paths(field: &Field, path: &str, texts: &FormTexts, paths: &mut Vec<String>) {
    let mut add_object = |table: &'static FieldTable, path: &str| {
        for member in shown_fields(table) {
            add_date_paths(member, &member_path(path, member.name), texts, paths);
        }
    };
    match &field.field_type {
        _ if FormZones::is_date(field) => paths.push(path.to_owned()),
        FieldType::Object(table) if is_shown_by_field(path, texts) => add_object(table, path),
        FieldType::List { item_type: FieldType::Object(table), .. } if is_shown_by_field(path, texts) => {
            for index in 0..item_count(path, texts) {
                add_object(table, &item_path(path, index));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::table::alerting::SLA;
    use crate::schema::table::requests::BLACKOUT;

    fn zones(dates: &str, account: &str) -> FormZones {
        let zone = |name| Zone::from_name(name).unwrap();
        FormZones { dates: zone(dates), account: zone(account) }
    }

    fn texts(pairs: &[(&str, &str)]) -> FormTexts {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    /// Returns what is stored of `from_date`, or what is wrong with it.
    fn stored(zones: FormZones, typed: &str) -> Result<String, String> {
        let fields: Vec<_> = shown_fields(&BLACKOUT).collect();
        let stored = zones.stored_texts(&fields, &texts(&[("from_date", typed)]), &FormTexts::new());
        stored.map(|texts| texts["from_date"].clone()).map_err(|errors| errors[0].message.clone())
    }

    #[test]
    fn dates_are_read_in_the_zone_of_the_person() {
        // New York changes its clocks on 2027-03-14 and 2027-11-07, Paris on 2027-03-28 and 2027-10-31.
        let abroad = zones("America/New_York", "Europe/Paris");
        for (typed, expected) in [
            ("2027-01-10 12:00:00", "2027-01-10 18:00:00"),
            ("2027-03-14 01:59:59", "2027-03-14 07:59:59"),
            ("2027-03-14 03:00:00", "2027-03-14 08:00:00"),
            ("2027-03-27 20:59:59", "2027-03-28 01:59:59"),
            ("2027-03-27 21:00:00", "2027-03-28 03:00:00"),
            ("2027-11-07 02:00:00", "2027-11-07 08:00:00"),
        ] {
            assert_eq!(stored(abroad, typed).as_deref(), Ok(expected), "{typed}");
            assert_eq!(abroad.shown_time(expected), typed);
        }
        for (typed, reason) in [
            ("2027-03-14 02:30:00", "is skipped by the clocks of America/New_York"),
            ("2027-11-07 01:30:00", "is there twice in America/New_York"),
            ("2027-10-30 21:30:00", "is `2027-10-31 02:30:00` in Europe/Paris"),
        ] {
            let message = stored(abroad, typed).unwrap_err();
            assert!(message.starts_with("`from_date`: ") && message.contains(reason), "{message}");
        }
        assert_eq!(stored(abroad, "soon").as_deref(), Ok("soon"), "the rule about dates says what is wrong");
    }

    #[test]
    fn in_the_zone_of_the_account_every_time_is_stored_as_it_is() {
        let at_home = zones("Europe/Paris", "Europe/Paris");
        for typed in ["2027-10-31 02:30:00", "2027-03-28 02:30:00", "2027-01-10 12:00:00"] {
            assert_eq!(stored(at_home, typed).as_deref(), Ok(typed));
            assert_eq!(at_home.shown_time(typed), typed);
        }
    }

    #[test]
    fn times_that_look_the_same_are_told_apart_by_their_place() {
        let (abroad, fields) = (zones("America/New_York", "UTC"), shown_fields(&SLA).collect::<Vec<_>>());
        let before = texts(&[
            ("exclusions[0].from_date", "2027-11-07 05:30:00"),
            ("exclusions[0].thru_date", "2027-11-07 06:30:00"),
            ("exclusions@count", "1"),
        ]);
        let shown = abroad.shown_texts(&fields, before.clone());
        assert_eq!(shown["exclusions[0].from_date"], shown["exclusions[0].thru_date"]);
        assert_eq!(abroad.stored_texts(&fields, &shown, &before), Ok(before));
    }

    #[test]
    fn what_nobody_touched_stays_even_where_the_clocks_repeat_an_hour() {
        let (abroad, fields) = (zones("America/New_York", "UTC"), shown_fields(&SLA).collect::<Vec<_>>());
        // The second 01:30 of New York.
        let dates = [("exclusions[0].from_date", "2027-11-07 06:30:00"), ("exclusions@count", "1")];
        let before = texts(&dates);
        let shown = abroad.shown_texts(&fields, before.clone());
        assert_eq!(shown["exclusions[0].from_date"], "2027-11-07 01:30:00");
        assert_eq!(abroad.stored_texts(&fields, &shown, &before), Ok(before.clone()));
        // Moved behind a new one, it is still the same.
        let moved = texts(&[
            ("exclusions[0].from_date", "2027-11-01 12:00:00"),
            ("exclusions[1].from_date", "2027-11-07 01:30:00"),
            ("exclusions@count", "2"),
        ]);
        let after = abroad.stored_texts(&fields, &moved, &before).unwrap();
        assert_eq!(after["exclusions[0].from_date"], "2027-11-01 16:00:00");
        assert_eq!(after["exclusions[1].from_date"], "2027-11-07 06:30:00");
    }

    #[test]
    fn times_of_the_week_are_those_of_the_account() {
        let abroad = zones("America/New_York", "Europe/Paris");
        let zone_of =
            |name: &str| abroad.zone_of(&BLACKOUT.field(name).unwrap().field_type, false).map(Zone::name);
        assert_eq!(zone_of("from_date"), Some("America/New_York"));
        assert_eq!(zone_of("start_time"), Some("Europe/Paris"));
        assert_eq!(zone_of("note"), None);
        let exclusions = &SLA.field("exclusions").unwrap().field_type;
        assert_eq!(abroad.zone_of(exclusions, true).map(Zone::name), Some("Europe/Paris"));
        assert_eq!(abroad.zone_of(exclusions, false), None);
    }
}
