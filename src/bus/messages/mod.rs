//! The messages of the bus as protobuf, for agents on other hosts. The manual's page on the bus describes every
//! field.
//!
//! A reader ignores fields that it does not know. It never encodes again what it did not make: whoever passes a
//! message on keeps its bytes, as [`EncodedMessage`] does, so that fields of a newer version survive.

mod account;
mod acknowledgement;
mod assigned_monitor;
mod assignments;
mod attempt;
mod capture_assembler;
mod capture_piece;
mod certificate;
mod controller_status;
mod encoded_message;
mod error;
mod field;
mod json;
mod members;
mod message_kind;
mod order;
mod order_reply;
mod presence;
mod reported_state;
mod result;
mod results;
mod sealer;
mod snapshot;
mod watch;

pub use account::{AccountMessage, BlackoutMessage};
pub use acknowledgement::CommittedChecksMessage;
pub use assigned_monitor::AssignedMonitorMessage;
pub use assignments::{
    AssignmentUpdateMessage, AssignmentsMessage, CertificatesMessage, RefusedAssignmentMessage,
    UnassignMessage, UpdateKind,
};
pub use attempt::{AttemptMessage, MissedRunsMessage, PhaseMessage};
pub use capture_assembler::CaptureAssembler;
pub use capture_piece::{CapturePieceMessage, capture_pieces};
pub use certificate::CertificateMessage;
pub use controller_status::{ClockReplyMessage, ControllerStatusMessage};
pub use encoded_message::{BusMessage, EncodedMessage, FORMAT_VERSION};
pub use error::MessageError;
pub use members::{MemberMessage, MembersMessage};
pub use message_kind::MessageKind;
pub use order::{CheckOrderMessage, FirstCheckOrderMessage, TracerouteOrderMessage};
pub use order_reply::{FileMessage, OrderReply, OrderReplyMessage, ReplyKind};
pub use presence::PresenceMessage;
pub use reported_state::{ReportedStateReplyMessage, ReportedStateRequestMessage};
pub use result::ResultMessage;
pub use results::ResultsMessage;
pub use sealer::{SealContext, Sealer};
pub use snapshot::{SnapshotHeaderMessage, SnapshotReader, encode_snapshot, read_sealed_snapshot};
pub use watch::{SnapshotLocationMessage, WatchReplyMessage, WatchRequestMessage};
