//! The kinds of messages, with their numbers on the wire and their limits.

const KIB: usize = 1024;

macro_rules! message_kinds {
    ($($(#[$doc:meta])* $variant:ident = $number:literal, $name:literal, $limit:expr;)+) => {
        /// What a message is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum MessageKind { $($(#[$doc])* $variant),+ }

        impl MessageKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Returns its name in errors and the manual.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// Returns its number on the wire.
            #[must_use]
            pub const fn number(self) -> u32 {
                match self { $(Self::$variant => $number),+ }
            }

            /// Returns the most bytes that a message of this kind may have, without its envelope.
            #[must_use]
            pub const fn max_bytes(self) -> usize {
                match self { $(Self::$variant => $limit),+ }
            }

            /// Returns the kind with this number.
            pub(super) fn from_number(number: u32) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

message_kinds! {
    /// Changes of what a location checks.
    Assignments = 1, "assignments", 960 * KIB;
    /// The start of a snapshot of what a location checks.
    SnapshotHeader = 2, "snapshot_header", KIB;
    /// A monitor that a location cannot check.
    RefusedAssignment = 3, "refused_assignment", 16 * KIB;
    /// A result.
    Result = 4, "result", 960 * KIB;
    /// A part of a captured file.
    CapturePiece = 5, "capture_piece", 516 * KIB;
    /// The checks whose results are committed.
    CommittedChecks = 6, "committed_checks", 64 * KIB;
    /// An order of a check.
    CheckOrder = 7, "check_order", 960 * KIB;
    /// An order of a first check.
    FirstCheckOrder = 8, "first_check_order", KIB;
    /// An order of a traceroute.
    TracerouteOrder = 9, "traceroute_order", 960 * KIB;
    /// The reply to an order.
    OrderReply = 10, "order_reply", 960 * KIB;
    /// A heartbeat of an agent.
    Presence = 11, "presence", KIB;
    /// Several results.
    Results = 12, "results", 960 * KIB;
    /// What the control plane tells about itself.
    ControllerStatus = 13, "controller_status", KIB;
    /// The time of the control plane.
    ClockReply = 20, "clock_reply", KIB;
    /// A request to follow the assignments.
    WatchRequest = 21, "watch_request", KIB;
    /// Where the agent follows them from.
    WatchReply = 22, "watch_reply", KIB;
    /// A question for what hosts reported.
    ReportedStateRequest = 23, "reported_state_request", KIB;
    /// What hosts reported.
    ReportedStateReply = 24, "reported_state_reply", 256 * KIB;
}
