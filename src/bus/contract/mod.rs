//! What the control plane and a location exchange: the only part of the bus that either of them imports. The control
//! plane calls [`LocationBus`], which calls the [`LocationPort`] of the location; results go the other way, through
//! [`ResultSink`] and [`ResultReceiver`].

mod assignment;
mod assignment_storage;
mod bus_event;
mod future;
mod location_bus;
mod location_port;
mod order;
mod presence;
mod reported_state;
mod result_receiver;
mod result_transport;

pub use assignment::{
    AssignedAccount, AssignedCertificate, AssignedMonitor, AssignmentBatch, AssignmentError,
    AssignmentRevision, AssignmentSnapshot, AssignmentUpdate, RefusedAssignment,
};
pub use assignment_storage::{AppliedPosition, AssignmentStorage};
pub use bus_event::{BusEvent, BusEventKind, BusEventSink};
pub use future::BusFuture;
pub use location_bus::{ConnectedLocation, LocationBus, PublishError, SnapshotSource};
pub use location_port::LocationPort;
pub use order::{CheckOrder, FirstCheckOrder, OrderError, TracerouteOrder};
pub use presence::{
    AgentLoad, AgentNetwork, MAX_NETWORK_ENTRIES, MAX_NETWORK_TEXT_BYTES, Presence, SpoolLoad,
};
pub use reported_state::ReportedStateSource;
pub use result_receiver::{ResultCaptures, ResultReceiver, ResultSink};
pub use result_transport::{DeliveryReports, ResultTransport, SendError, Urgency};
