//! `GET /slas/{id}/report`: the report of an agreement.

use super::config_record_service::ConfigRecordService;
use crate::domain::{ConfigRecordKind, Permission};
use crate::service::caller::{Caller, ServiceError};
use crate::service::monitor_reader::MonitorReader;
use crate::service::sla::report::SlaReport;
use crate::service::sla::{ReportError, SlaQuery, compute_report};
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

impl ConfigRecordService {
    /// Computes the report of an agreement of the caller's account, with the results that `monitor_reader` reads.
    pub async fn sla_report(
        &self,
        caller: &Caller,
        id: i64,
        query: SlaQuery,
        monitor_reader: &MonitorReader,
    ) -> Result<SlaReport, ServiceError> {
        caller.require_permission(Permission::ViewReports)?;
        let record = self.dependencies.config_store.record(ConfigRecordKind::Sla, id).await?;
        let agreement_record =
            record.filter(|record| record.customer == caller.customer).ok_or(ServiceError::NotFound)?;
        let account = self.dependencies.account_cache.account(caller.customer).await?;
        compute_report(&agreement_record, &account, monitor_reader, query, self.dependencies.clock.now())
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
