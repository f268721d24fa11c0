//! `GET /slas/{id}/report`: the figures of an agreement.

use super::records::Resources;
use crate::domain::{Permission, RecordKind};
use crate::service::caller::{Caller, Refusal};
use crate::service::sla::report::SlaReport;
use crate::service::sla::{NoReport, SlaQuery, report};
use crate::service::view::View;
use crate::syntax::source::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

impl Resources {
    /// The report of an agreement of the caller's account, from the results of `view`.
    pub async fn sla_report(
        &self,
        caller: &Caller,
        id: i64,
        query: SlaQuery,
        view: &View,
    ) -> Result<SlaReport, Refusal> {
        caller.require(Permission::ViewReports)?;
        let record = self.parts.ledger.record(RecordKind::Sla, id).await?;
        let own = record.filter(|record| record.customer == caller.customer).ok_or(Refusal::NotFound)?;
        let facts = self.parts.directory.facts(caller.customer).await?;
        report(&own, &facts, view, query, self.parts.clock.now()).await.map_err(|why| match why {
            NoReport::Unknown => Refusal::NotFound,
            NoReport::Store(error) => Refusal::Store(error),
            NoReport::Empty | NoReport::TooLong => Refusal::Faults(vec![ValidationError::new(
                ValidationErrorKind::Conflict,
                "from",
                Position::default(),
                why.to_string(),
            )]),
        })
    }
}
