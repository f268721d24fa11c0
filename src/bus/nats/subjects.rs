//! The subjects of the bus on NATS, and what an agent may do with them.
//!
//! Agents and the control plane are in two accounts of NATS. The streams are in the account of the control plane. The
//! account of the agents reaches it only over the subjects that are exported here. This keeps the reply subjects of agents
//! out of the account of the streams. NATS does not check a reply subject: in one common account, an agent that may ask for
//! a message could name `$JS.API.STREAM.DELETE.vigie-results` as the reply subject, and the empty reply of the server would
//! delete the stream.
//!
//! For the same reason an agent creates no consumer: the subject to which a consumer delivers is in the body of the
//! request, which no permission covers. The control plane creates the consumer of each agent.

use std::time::Duration;

use crate::domain::{AgentId, LocationId};

/// Stream of the results of current runs.
pub const RESULTS_STREAM: &str = "vigie-results";
/// Stream of the results that an agent kept while it was offline.
pub const BACKLOG_STREAM: &str = "vigie-backlog";
/// Stream of the pieces of captured files.
pub const CAPTURES_STREAM: &str = "vigie-captures";
/// Key-value bucket of the assignments of all locations.
pub const ASSIGNMENTS_BUCKET: &str = "vigie-assignments";
/// Stream behind [`ASSIGNMENTS_BUCKET`].
pub const ASSIGNMENTS_STREAM: &str = "KV_vigie-assignments";

/// Prefix of the JetStream API for agents (`jetstream::with_prefix`). Their own account has no JetStream, but the usual
/// prefix leads there.
pub const AGENT_API_PREFIX: &str = "vigie.js";
/// Prefix of the JetStream API for the control plane.
const API_PREFIX: &str = "$JS.API";

/// How long an agent may take to reply to an order. Later, the server refuses the reply.
pub const ORDER_REPLY_TTL: Duration = Duration::from_mins(5);

/// The subjects below a location and an agent that the control plane receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentSubject {
    /// A result of a current run, into [`RESULTS_STREAM`].
    Results,
    /// A result that was kept while the agent was offline, into [`BACKLOG_STREAM`].
    Backlog,
    /// A piece of a captured file, into [`CAPTURES_STREAM`].
    Captures,
    /// A heartbeat.
    Presence,
    /// A monitor that the agent cannot check.
    Refused,
    /// A request for the time of the control plane.
    Clock,
    /// A request for a new JWT and the current data keys.
    Renew,
    /// A request to create the consumer of the agent again, such as after a new snapshot.
    Watch,
}

impl AgentSubject {
    /// Every subject.
    pub const ALL: [Self; 8] = [
        Self::Results,
        Self::Backlog,
        Self::Captures,
        Self::Presence,
        Self::Refused,
        Self::Clock,
        Self::Renew,
        Self::Watch,
    ];

    const fn token(self) -> &'static str {
        match self {
            Self::Results => "results",
            Self::Backlog => "backlog",
            Self::Captures => "captures",
            Self::Presence => "presence",
            Self::Refused => "refused",
            Self::Clock => "clock",
            Self::Renew => "renew",
            Self::Watch => "watch",
        }
    }

    /// Returns the subject of one agent.
    #[must_use]
    pub fn of(self, location: LocationId, agent: AgentId) -> String {
        format!("vigie.{}.{location}.{agent}", self.token())
    }

    /// Returns the subjects of all agents, for a subscription or a stream.
    #[must_use]
    pub fn of_all(self) -> String {
        format!("vigie.{}.*.*", self.token())
    }

    /// Returns the location and agent whose subject this is. The server has checked that the message comes from them.
    #[must_use]
    pub fn sender(self, subject: &str) -> Option<(LocationId, AgentId)> {
        let rest = subject.strip_prefix("vigie.")?.strip_prefix(self.token())?.strip_prefix('.')?;
        let (location, agent) = rest.split_once('.')?;
        Some((LocationId(decimal(location)?), AgentId(decimal(agent)?)))
    }
}

/// Parses an id in the only form in which subjects contain it.
fn decimal(token: &str) -> Option<i64> {
    token.parse().ok().filter(|id: &i64| id.to_string() == token)
}

/// Returns the subject of the orders to an agent.
#[must_use]
pub fn orders(location: LocationId, agent: AgentId) -> String {
    format!("vigie.orders.{location}.{agent}")
}

/// Returns the subject on which the control plane reports committed checks to an agent.
#[must_use]
pub fn committed(location: LocationId, agent: AgentId) -> String {
    format!("vigie.committed.{location}.{agent}")
}

/// Returns the subject on which the control plane tells all agents of a location something, such as its members.
#[must_use]
pub fn location(location: LocationId) -> String {
    format!("vigie.location.{location}")
}

/// Returns the inbox prefix of an agent, for `ConnectOptions::custom_inbox_prefix`. Replies to it reach only it.
#[must_use]
pub fn inbox_prefix(location: LocationId, agent: AgentId) -> String {
    format!("_INBOX.vigie.{location}.{agent}")
}

/// Returns the keys of the assignments of a location in [`ASSIGNMENTS_BUCKET`], as the filter of a consumer.
#[must_use]
pub fn assignments_filter(location: LocationId) -> String {
    format!("$KV.{ASSIGNMENTS_BUCKET}.{location}.>")
}

/// Returns the name of the durable pull consumer of an agent on [`ASSIGNMENTS_STREAM`], which the control plane creates
/// with [`assignments_filter`].
#[must_use]
pub fn assignments_consumer(agent: AgentId) -> String {
    format!("agent-{agent}")
}

/// Returns the name of the object-store bucket of the snapshots of a location.
#[must_use]
pub fn snapshots_bucket(location: LocationId) -> String {
    format!("vigie-snapshots-{location}")
}

/// Returns the name of the stream behind [`snapshots_bucket`]. Agents read it by direct gets: the last message for
/// `$O.BUCKET.M.NAME`, then the next for the subject of its chunks, one after another.
#[must_use]
pub fn snapshots_stream(location: LocationId) -> String {
    format!("OBJ_{}", snapshots_bucket(location))
}

/// What the server lets an agent do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentPermissions {
    /// Subjects to which it may publish.
    pub publish: Vec<String>,
    /// Subjects to which it may subscribe.
    pub subscribe: Vec<String>,
}

/// Returns what the server lets an agent do. Besides, it may reply once to each order within [`ORDER_REPLY_TTL`].
#[must_use]
pub fn agent_permissions(location: LocationId, agent: AgentId) -> AgentPermissions {
    let (consumer, snapshots) = (assignments_consumer(agent), snapshots_stream(location));
    let mut publish: Vec<String> = AgentSubject::ALL.iter().map(|one| one.of(location, agent)).collect();
    publish.extend([
        format!("{AGENT_API_PREFIX}.CONSUMER.MSG.NEXT.{ASSIGNMENTS_STREAM}.{consumer}"),
        format!("{AGENT_API_PREFIX}.CONSUMER.INFO.{ASSIGNMENTS_STREAM}.{consumer}"),
        format!("{AGENT_API_PREFIX}.DIRECT.GET.{ASSIGNMENTS_STREAM}.{}", assignments_filter(location)),
        // With a body that names a sequence or a subject: the stream belongs to the location as a whole.
        format!("{AGENT_API_PREFIX}.DIRECT.GET.{snapshots}"),
        format!("{AGENT_API_PREFIX}.DIRECT.GET.{snapshots}.>"),
    ]);
    let subscribe = vec![
        format!("{}.>", inbox_prefix(location, agent)),
        orders(location, agent),
        committed(location, agent),
        self::location(location),
    ];
    AgentPermissions { publish, subscribe }
}

/// A subject that one account exports and the other imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedSubject {
    /// The subject in the account that exports it, with wildcards in place of location and agent.
    pub subject: String,
    /// Its name in the account that imports it.
    pub imported_as: String,
    /// How the messages go.
    pub flow: Flow,
}

/// How messages go between the two accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// A request of an agent with at most one reply.
    Request,
    /// A request of an agent with any number of replies.
    RequestOfMany,
    /// A message of the control plane to agents, without a reply.
    Broadcast,
    /// A request of the control plane, to which an agent replies once within [`ORDER_REPLY_TTL`].
    Order,
}

/// Returns everything that goes between the account of the control plane and that of the agents.
#[must_use]
pub fn shared_subjects() -> Vec<SharedSubject> {
    let shared = |flow, subject: String| SharedSubject { imported_as: subject.clone(), subject, flow };
    let api = |flow, call: &str| {
        let (subject, imported_as) = (format!("{API_PREFIX}.{call}"), format!("{AGENT_API_PREFIX}.{call}"));
        SharedSubject { subject, imported_as, flow }
    };
    let mut all: Vec<SharedSubject> =
        AgentSubject::ALL.iter().map(|one| shared(Flow::Request, one.of_all())).collect();
    all.extend([
        api(Flow::RequestOfMany, &format!("CONSUMER.MSG.NEXT.{ASSIGNMENTS_STREAM}.*")),
        api(Flow::Request, &format!("CONSUMER.INFO.{ASSIGNMENTS_STREAM}.*")),
        // Which of the streams an agent may read is for its permissions to say.
        api(Flow::Request, "DIRECT.GET.*"),
        api(Flow::Request, "DIRECT.GET.*.>"),
        shared(Flow::Broadcast, "vigie.committed.*.*".to_owned()),
        shared(Flow::Broadcast, "vigie.location.*".to_owned()),
        shared(Flow::Order, "vigie.orders.*.*".to_owned()),
    ]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sender_of_a_subject_is_read_back_and_nothing_else() {
        let (location, agent) = (LocationId(4), AgentId(17));
        for subject in AgentSubject::ALL {
            assert_eq!(subject.sender(&subject.of(location, agent)), Some((location, agent)));
        }
        for wrong in [
            "vigie.results.4",
            "vigie.results.4.17.1",
            "vigie.results.04.17",
            "vigie.results.+4.17",
            "vigie.results.4.x",
            "vigie.resultsx.4.17",
            "vigie.backlog.4.17",
            "vigie.results.4.99999999999999999999",
            "",
        ] {
            assert_eq!(AgentSubject::Results.sender(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn everything_that_an_agent_may_publish_is_exported_to_its_account() {
        let permissions = agent_permissions(LocationId(4), AgentId(17));
        let exported: Vec<String> = shared_subjects().into_iter().map(|one| one.imported_as).collect();
        let matches = |pattern: &str, subject: &str| {
            let (mut pattern, mut subject) = (pattern.split('.'), subject.split('.'));
            loop {
                match (pattern.next(), subject.next()) {
                    (Some(">"), Some(_)) | (None, None) => return true,
                    (Some("*"), Some(token)) if token != ">" => {}
                    (Some(token), Some(other)) if token == other => {}
                    _ => return false,
                }
            }
        };
        for subject in &permissions.publish {
            assert!(exported.iter().any(|pattern| matches(pattern, subject)), "{subject}");
        }
        // Nothing that it may publish changes a stream or creates a consumer.
        for subject in &permissions.publish {
            assert!(!subject.contains("CREATE") && !subject.contains("STREAM."), "{subject}");
        }
    }
}
