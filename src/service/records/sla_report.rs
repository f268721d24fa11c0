//! `GET /slas/{id}/report`: the report of an agreement.

use super::record_service::RecordService;
use crate::domain::{Permission, RecordKind};
use crate::service::caller::{Caller, ServiceError};
use crate::service::sla::report::SlaReport;
use crate::service::sla::{ReportError, SlaQuery, compute_report};
use crate::service::status_queries::StatusQueries;
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

impl RecordService {
    /// Computes the report of an agreement of the caller's account, with the results that `status_queries` reads.
    pub async fn sla_report(
        &self,
        caller: &Caller,
        id: i64,
        query: SlaQuery,
        status_queries: &StatusQueries,
    ) -> Result<SlaReport, ServiceError> {
        caller.require_permission(Permission::ViewReports)?;
        let record = self.dependencies.config_store.record(RecordKind::Sla, id).await?;
        let agreement_record =
            record.filter(|record| record.customer == caller.customer).ok_or(ServiceError::NotFound)?;
        let facts = self.dependencies.account_cache.account(caller.customer).await?;
        compute_report(&agreement_record, &facts, status_queries, query, self.dependencies.clock.now())
            .await
            .map_err(|error| match error {
                ReportError::NotFound => ServiceError::NotFound,
                ReportError::Store(error) => ServiceError::StoreFailed(error),
                ReportError::EmptyRange | ReportError::TooManyPeriods => {
                    ServiceError::Invalid(vec![ValidationError::new(
                        ValidationErrorKind::Conflict,
                        "from",
                        Position::default(),
                        error.to_string(),
                    )])
                }
            })
    }
}
