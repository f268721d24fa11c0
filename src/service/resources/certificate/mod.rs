//! Client certificates and authorities: PEM or PKCS#12 in, facts out, never the key (behaviour.md 1). The
//! whole PEM text is sealed as the record's private part.

mod certificate_facts;
mod opened_certificate;
mod parse;
mod pkcs12;
mod upload;

pub(super) use opened_certificate::open_all;
pub use opened_certificate::{CertificateWatcher, OpenedCertificate};
pub use upload::open_pkcs12;
pub(super) use upload::{check_removal, create};
