//! When a blackout holds next (issue: "next occurrences can be asked for").

use serde_json::{Map, Value, json};

use super::kinds::kind_of;
use super::records::Resources;
use crate::catalog::contacts;
use crate::catalog::moment::{utc, window};
use crate::domain::{RecordKind, Timestamp};
use crate::service::caller::{Caller, Refusal};

impl Resources {
    /// The next `most` times at which the blackout `id` holds that end after `after`, now when absent.
    pub async fn occurrences(
        &self,
        caller: &Caller,
        id: i64,
        after: Option<Timestamp>,
        most: usize,
    ) -> Result<Vec<Map<String, Value>>, Refusal> {
        let kind = kind_of(RecordKind::Blackout);
        caller.require(kind.see)?;
        let bench = self.bench(caller, kind).await?;
        let record = self.found(&bench, id).await?;
        let Some(blackout) = contacts::window(&record) else { return Ok(Vec::new()) };
        let found = bench.facts.calendar.occurrences(&blackout, after.unwrap_or(bench.now), most);
        let zone = &bench.facts.time_zone;
        let shown = |(from, thru): (Timestamp, Timestamp)| {
            [
                ("from_date", window(from, zone)),
                ("thru_date", window(thru, zone)),
                ("from", utc(from)),
                ("thru", utc(thru)),
            ]
            .into_iter()
            .map(|(name, text)| (name.to_owned(), json!(text)))
            .collect()
        };
        Ok(found.into_iter().map(shown).collect())
    }
}
