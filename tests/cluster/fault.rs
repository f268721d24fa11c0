//! What can break.

/// A fault, which is healed before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// One of two agents of a location is killed, and starts again.
    AgentKilled,
    /// An agent is cut off from NATS for longer than an interval.
    AgentCutOff,
    /// An agent is cut off until its spool has dropped results.
    AgentCutOffBeyondItsSpool,
    /// What an agent sends gets lost; what is sent to it arrives.
    NothingFromAgent,
    /// What is sent to an agent gets lost; what it sends arrives.
    NothingToAgent,
    /// All hosts of a location are cut off from NATS.
    LocationCutOff,
    AgentDiskFull,
    /// The clock of an agent jumps 5 minutes ahead, and back.
    AgentClockSteps,
    LeaderKilled,
    BothControllersRestarted,
    /// The leader is stopped for longer than its lease, and goes on.
    LeaderPaused,
    NatsKilled,
    NatsRestarted,
    NatsDiskFull,
    /// NATS starts again without its streams.
    NatsDataLost,
    /// Messages of agents come again, late, in another order, and damaged.
    MessagesRepeated,
    DatabaseKilled,
    DatabaseRestarted,
    DatabaseReadOnly,
    DatabaseDiskFull,
    /// A replica that is a second behind takes the place of the database.
    DatabaseFailedOver,
    /// Agents become those of an earlier version, at a location one after the other, and are upgraded again.
    AgentsUpgraded,
    /// One controller after the other becomes that of an earlier version, leads, and is upgraded again.
    ControllersUpgraded,
}

/// What a fault hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Agents,
    Controllers,
    Nats,
    Database,
}

impl Fault {
    pub const ALL: [Self; 23] = [
        Self::AgentKilled,
        Self::AgentCutOff,
        Self::AgentCutOffBeyondItsSpool,
        Self::NothingFromAgent,
        Self::NothingToAgent,
        Self::LocationCutOff,
        Self::AgentDiskFull,
        Self::AgentClockSteps,
        Self::LeaderKilled,
        Self::BothControllersRestarted,
        Self::LeaderPaused,
        Self::NatsKilled,
        Self::NatsRestarted,
        Self::NatsDiskFull,
        Self::NatsDataLost,
        Self::MessagesRepeated,
        Self::DatabaseKilled,
        Self::DatabaseRestarted,
        Self::DatabaseReadOnly,
        Self::DatabaseDiskFull,
        Self::DatabaseFailedOver,
        Self::AgentsUpgraded,
        Self::ControllersUpgraded,
    ];

    pub const fn part(self) -> Part {
        match self {
            Self::AgentKilled
            | Self::AgentCutOff
            | Self::AgentCutOffBeyondItsSpool
            | Self::NothingFromAgent
            | Self::NothingToAgent
            | Self::LocationCutOff
            | Self::AgentDiskFull
            | Self::AgentClockSteps
            | Self::AgentsUpgraded => Part::Agents,
            Self::LeaderKilled
            | Self::BothControllersRestarted
            | Self::LeaderPaused
            | Self::ControllersUpgraded => Part::Controllers,
            Self::NatsKilled
            | Self::NatsRestarted
            | Self::NatsDiskFull
            | Self::NatsDataLost
            | Self::MessagesRepeated => Part::Nats,
            Self::DatabaseKilled
            | Self::DatabaseRestarted
            | Self::DatabaseReadOnly
            | Self::DatabaseDiskFull
            | Self::DatabaseFailedOver => Part::Database,
        }
    }

    /// Whether it takes too long for the short run.
    pub const fn is_long(self) -> bool {
        matches!(
            self,
            Self::AgentCutOffBeyondItsSpool
                | Self::AgentClockSteps
                | Self::AgentsUpgraded
                | Self::ControllersUpgraded
        )
    }

    /// Whether it hits the agent that [`Self::AgentCutOffBeyondItsSpool`] cuts off for so long.
    pub const fn is_hidden_by_cut_off(self) -> bool {
        matches!(self, Self::AgentDiskFull | Self::AgentsUpgraded)
    }

    /// Whether an agent may lose results that it has: they die with its process or its spool.
    pub const fn loses_results(self) -> bool {
        matches!(self, Self::AgentKilled | Self::AgentCutOffBeyondItsSpool | Self::AgentDiskFull)
    }

    /// Returns the fault of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| format!("{fault:?}") == name)
    }
}
