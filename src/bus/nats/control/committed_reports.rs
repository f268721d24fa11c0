//! Reports to agents what is committed.

use std::collections::HashMap;

use crate::bus::messages::{BusMessage, CommittedChecksMessage};
use crate::bus::nats::connection::NatsConnection;
use crate::bus::nats::subjects::committed;
use crate::domain::{AgentId, CheckId, LocationId};

/// Most checks in one report.
const MAX_CHECKS: usize = 4_000;

/// The checks of each agent that are done with: committed or refused.
#[derive(Debug, Default)]
pub(super) struct CommittedReports {
    by_agent: HashMap<(LocationId, AgentId), CommittedChecksMessage>,
}

impl CommittedReports {
    /// Adds the result of a check.
    pub(super) fn add_result(&mut self, agent: (LocationId, AgentId), check_id: CheckId) {
        self.by_agent.entry(agent).or_default().check_ids.push(check_id.0);
    }

    /// Adds the captures of a check.
    pub(super) fn add_captures(&mut self, agent: (LocationId, AgentId), check_id: CheckId) {
        self.by_agent.entry(agent).or_default().captured_check_ids.push(check_id.0);
    }

    /// Sends the reports. One that is lost costs a repetition: the agent sends the result again.
    pub(super) async fn send(self, connection: &NatsConnection) {
        for ((location, agent), message) in self.by_agent {
            let results = message.check_ids.chunks(MAX_CHECKS).map(|check_ids| CommittedChecksMessage {
                check_ids: check_ids.to_vec(),
                captured_check_ids: Vec::new(),
            });
            let captures = message.captured_check_ids.chunks(MAX_CHECKS).map(|checks| {
                CommittedChecksMessage { check_ids: Vec::new(), captured_check_ids: checks.to_vec() }
            });
            for report in results.chain(captures) {
                let Ok(bytes) = report.to_bytes() else { continue };
                if let Err(error) =
                    connection.client().publish(committed(location, agent), bytes.into()).await
                {
                    tracing::debug!(error = %error, "a report to an agent was not sent");
                }
            }
        }
    }
}
