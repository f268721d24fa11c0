//! A certificate that checks may use.

use std::sync::Arc;

use prost::Message;

use super::error::MessageError;
use super::field::FieldOf;
use super::message_kind::MessageKind;
use super::sealer::{SealContext, Sealer};
use crate::bus::contract::AssignedCertificate;
use crate::domain::CustomerId;

/// A certificate.
#[derive(Clone, PartialEq, Message)]
pub struct CertificateMessage {
    /// Id, to which the fields of monitors refer.
    #[prost(int64, tag = "1")]
    pub id: i64,
    /// Name, for messages.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Whether it is a client certificate with its key, rather than an authority.
    #[prost(bool, tag = "3")]
    pub is_client: bool,
    /// The PEM text, sealed.
    #[prost(bytes = "vec", tag = "4")]
    pub sealed_pem: Vec<u8>,
    /// Account that owns it.
    #[prost(int64, tag = "5")]
    pub customer_id: i64,
}

impl CertificateMessage {
    pub(super) fn from_certificate(certificate: &AssignedCertificate, sealer: &dyn Sealer) -> Self {
        Self {
            id: certificate.id,
            name: certificate.name.clone(),
            is_client: certificate.is_client,
            sealed_pem: sealer.seal(SealContext::Certificate, certificate.id, &certificate.pem),
            customer_id: certificate.customer_id.0,
        }
    }

    pub(super) fn into_certificate(self, sealer: &dyn Sealer) -> Result<AssignedCertificate, MessageError> {
        let field = FieldOf(MessageKind::Assignments, "certificates.sealed_pem");
        let pem = sealer.open(SealContext::Certificate, self.id, &self.sealed_pem);
        let pem = Arc::new(pem.map_err(|reason| field.invalid(reason))?);
        Ok(AssignedCertificate {
            id: self.id,
            customer_id: CustomerId(self.customer_id),
            name: self.name,
            is_client: self.is_client,
            pem,
        })
    }
}
