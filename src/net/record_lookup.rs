//! Queries the name servers of a location for records of any type.

use std::time::Duration;

use hickory_resolver::net::{DnsError, NetError as ResolveError, NoRecords};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RData, RecordType};

use super::deadline::Deadline;
use super::resolver::LOOKUP_TIMEOUT;
use super::stack::Net;

/// Maximum number of records that are returned.
const MAX_RECORDS: usize = 100;
/// Longest text of a record, in bytes.
const MAX_RECORD_BYTES: usize = 4096;

/// What the name servers said about records of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordLookup {
    /// The records of the queried type: for TXT the joined texts, for CNAME the target without the last dot, for others
    /// as in a zone file. May be empty.
    Records(Vec<String>),
    /// The name does not exist (NXDOMAIN).
    NameNotFound,
}

impl RecordLookup {
    /// Returns the records; none for a name that does not exist.
    #[must_use]
    pub fn into_records(self) -> Vec<String> {
        match self {
            Self::Records(records) => records,
            Self::NameNotFound => Vec::new(),
        }
    }
}

impl Net {
    /// Returns the records of `name`, which is absolute: no search list is used.
    ///
    /// # Errors
    /// Why there was no answer, in one line.
    pub async fn lookup_records(
        &self,
        name: &str,
        record_type: RecordType,
        deadline: Deadline,
    ) -> Result<RecordLookup, String> {
        let mut name =
            Name::from_utf8(name).map_err(|error| format!("`{name}` is not a DNS name: {error}"))?;
        name.set_fqdn(true);
        let timeout = LOOKUP_TIMEOUT.min(deadline.remaining());
        if timeout == Duration::ZERO {
            return Err("no time was left".to_owned());
        }
        let query = self.stack.resolver.dns_client.lookup(name.clone(), record_type);
        let response = match tokio::time::timeout(timeout, query).await {
            Err(_) => return Err(format!("the resolver did not reply about {record_type} of `{name}`")),
            Ok(Err(ResolveError::Dns(DnsError::NoRecordsFound(NoRecords { response_code, .. })))) => {
                return match response_code {
                    ResponseCode::NXDomain => Ok(RecordLookup::NameNotFound),
                    ResponseCode::NoError => Ok(RecordLookup::Records(Vec::new())),
                    code => Err(format!("{record_type} of `{name}`: {code}")),
                };
            }
            Ok(Err(error)) => return Err(format!("{record_type} of `{name}`: {error}")),
            Ok(Ok(response)) => response,
        };
        let records = response.answers().iter().filter(|record| record.record_type() == record_type);
        Ok(RecordLookup::Records(records.map(|record| record_text(&record.data)).take(MAX_RECORDS).collect()))
    }
}

fn record_text(data: &RData) -> String {
    match data {
        RData::TXT(text) => {
            let mut bytes: Vec<u8> = text.txt_data.iter().flat_map(|part| part.iter().copied()).collect();
            bytes.truncate(MAX_RECORD_BYTES);
            String::from_utf8_lossy(&bytes).into_owned()
        }
        RData::CNAME(target) => target.0.to_utf8().trim_end_matches('.').to_owned(),
        other => {
            let mut text = other.to_string();
            text.truncate(text.floor_char_boundary(MAX_RECORD_BYTES));
            text
        }
    }
}
