//! Numbers of the extensions of hellos (IANA "TLS `ExtensionType` Values").

pub(super) const SERVER_NAME: u16 = 0;
pub(super) const STATUS_REQUEST: u16 = 5;
pub(super) const SUPPORTED_GROUPS: u16 = 10;
pub(super) const EC_POINT_FORMATS: u16 = 11;
pub(super) const SIGNATURE_ALGORITHMS: u16 = 13;
pub(super) const ALPN: u16 = 16;
pub(super) const PADDING: u16 = 21;
pub(super) const EXTENDED_MASTER_SECRET: u16 = 23;
pub(super) const SESSION_TICKET: u16 = 35;
pub(super) const SUPPORTED_VERSIONS: u16 = 43;
pub(super) const PSK_KEY_EXCHANGE_MODES: u16 = 45;
pub(super) const KEY_SHARE: u16 = 51;
pub(super) const RENEGOTIATION_INFO: u16 = 0xff01;
