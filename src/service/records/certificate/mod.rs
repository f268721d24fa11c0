//! Client certificates and authorities: accepts PEM or PKCS#12, returns facts, never the key (behaviour.md 1). The
//! whole PEM text is the sealed private part of the record.

mod certificate_description;
mod decrypted_certificate;
mod parse;
mod pkcs12;
mod upload;

pub(super) use decrypted_certificate::decrypt_all;
pub use decrypted_certificate::{CertificateWatcher, DecryptedCertificate};
pub use upload::pkcs12_to_pem;
pub(super) use upload::{check_removal, creation_draft};
