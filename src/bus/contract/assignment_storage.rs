//! What an agent keeps of its assignments, so that it starts without a network.

/// Where a location stands in its assignments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppliedPosition {
    /// The stream that the revision belongs to; empty before the first assignment.
    pub stream_id: String,
    /// The revision that is applied.
    pub revision: u64,
}

/// Keeps assignments in the form of the bus, with their secrets sealed.
pub trait AssignmentStorage: Send + Sync + 'static {
    /// Replaces everything by a snapshot, whose bytes these are. Errors are logged: the agent then starts with older
    /// assignments, and catches up.
    fn replace(&self, position: &AppliedPosition, snapshot: Vec<u8>);

    /// Replaces everything by `messages`, which lead to `position` from nothing.
    fn restart(&self, position: &AppliedPosition, messages: Vec<Vec<u8>>);

    /// Adds messages that lead to `revision`.
    fn append(&self, revision: u64, messages: Vec<Vec<u8>>);
}
