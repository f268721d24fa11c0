//! Scans of TLS servers: own `ClientHello`s on the wire, and what servers answer to them. Nothing is judged, no
//! handshake of an old version is completed, and nothing is sent that a client would not send.

mod options;
mod scan;

pub use options::TlsScanOptions;
pub use scan::scan_tls;
