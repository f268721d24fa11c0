//! Resolves names to addresses, anew for every attempt (behaviour.md 4, Addresses).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::net::{DnsError, NetError as ResolveError, NoRecords};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RecordType};

use super::deadline::Deadline;
use super::endpoint::{AddressFamily, ConnectionTrace, Endpoint};
use super::resolver::LOOKUP_TIMEOUT;
use super::socket;
use super::stack::Net;
use crate::domain::{Failure, FailureKind, Fault, Phase};

/// Longest wait for the response about the control name.
const CONTROL_LOOKUP_TIMEOUT: Duration = Duration::from_secs(2);
impl Net {
    /// Returns the addresses of `endpoint`, in the order to try them. A pinned address or a literal needs no query.
    /// NXDOMAIN, no data and errors of the resolver have own failure kinds (status 51). When the resolver does not
    /// respond, the control name is queried: if that works, the failure is about this name (51), otherwise about the
    /// resolver (21).
    pub async fn resolve(
        &self,
        endpoint: &Endpoint,
        deadline: Deadline,
        trace: &mut ConnectionTrace,
    ) -> Result<Vec<IpAddr>, Failure> {
        let started = tokio::time::Instant::now();
        let result = match endpoint.address_without_lookup() {
            Some(address) if endpoint.address_family.allows(address) => Ok(vec![address]),
            Some(address) => {
                Err(no_address_failure(endpoint, &format!("`{address}` is not of the configured family")))
            }
            // On the heap: literals need no space for it.
            None => Box::pin(self.lookup_host(endpoint, deadline)).await,
        };
        trace.phases.add(Phase::Resolve, started.elapsed());
        if let Ok(addresses) = &result {
            trace.resolved_addresses.clone_from(addresses);
        }
        result
    }

    async fn lookup_host(&self, endpoint: &Endpoint, deadline: Deadline) -> Result<Vec<IpAddr>, Failure> {
        let name = Name::from_utf8(&endpoint.host).map_err(|error| {
            let detail = format!("`{}` is not a valid host name: {error}", endpoint.host);
            Failure::new(Phase::Resolve, FailureKind::NameNotFound, detail)
        })?;
        if let Some(addresses) = self.stack.resolver.lookup_hosts_file(&name, endpoint.address_family) {
            return if addresses.is_empty() {
                Err(no_address_failure(endpoint, "/etc/hosts has only addresses of another family"))
            } else {
                Ok(self.order_addresses(addresses, endpoint.address_family))
            };
        }
        let timeout = LOOKUP_TIMEOUT.min(deadline.remaining() * 2 / 3);
        match tokio::time::timeout(
            timeout,
            self.stack.resolver.lookup_addresses(&name, endpoint.address_family),
        )
        .await
        {
            Ok(Ok(addresses)) if addresses.is_empty() => {
                Err(no_address_failure(endpoint, "the response contains no address"))
            }
            Ok(Ok(addresses)) => Ok(self.order_addresses(addresses, endpoint.address_family)),
            Ok(Err(error)) => match lookup_failure(endpoint, &error) {
                Some(failure) => Err(failure),
                None => Err(self.diagnose_no_response(endpoint, deadline, &error.to_string()).await),
            },
            Err(_) => Err(self
                .diagnose_no_response(endpoint, deadline, &format!("no response within {timeout:.1?}"))
                .await),
        }
    }

    /// Queries the control name to find out who does not respond: the resolver, or the servers of this name only.
    async fn diagnose_no_response(
        &self,
        endpoint: &Endpoint,
        deadline: Deadline,
        error_text: &str,
    ) -> Failure {
        let timeout = CONTROL_LOOKUP_TIMEOUT.min(deadline.remaining());
        let control_query =
            self.stack.resolver.dns_client.lookup(self.stack.resolver.control_name.clone(), RecordType::NS);
        let responded = match tokio::time::timeout(timeout, control_query).await {
            Ok(Ok(_)) => true,
            // An error of this host, such as no free socket, is not a response.
            Ok(Err(error)) => match lookup_failure(endpoint, &error) {
                Some(failure) if failure.fault == Fault::Vigie => return failure,
                dns_failure => dns_failure.is_some(),
            },
            Err(_) => false,
        };
        let host = &endpoint.host;
        if responded {
            Failure::new(Phase::Resolve, FailureKind::NameLookupUnanswered, format!("`{host}`: {error_text}"))
        } else {
            let control_name = &self.stack.resolver.control_name;
            let detail = format!(
                "querying `{host}`: {error_text}; the control name `{control_name}` got no response either"
            );
            Failure::new(Phase::Resolve, FailureKind::ResolverUnresponsive, detail)
        }
    }

    /// Alternates between the families (RFC 8305 4), starting with the preferred one.
    fn order_addresses(&self, addresses: Vec<IpAddr>, family: AddressFamily) -> Vec<IpAddr> {
        let (ipv6, ipv4): (Vec<IpAddr>, Vec<IpAddr>) = addresses.into_iter().partition(IpAddr::is_ipv6);
        let has_local_route = |address: &IpAddr| {
            socket::check_local_route(&self.stack.source_binding, SocketAddr::new(*address, 53)).is_ok()
        };
        let ipv6_first = family == AddressFamily::V6Preferred
            || ipv4.is_empty()
            || ipv6.first().is_some_and(has_local_route);
        let (mut preferred, mut other) = if ipv6_first { (ipv6, ipv4) } else { (ipv4, ipv6) };
        if family == AddressFamily::V6Preferred {
            preferred.append(&mut other);
            return preferred;
        }
        let mut ordered = Vec::with_capacity(preferred.len() + other.len());
        let (mut preferred, mut other) = (preferred.into_iter(), other.into_iter());
        loop {
            match (preferred.next(), other.next()) {
                (None, None) => return ordered,
                (a, b) => ordered.extend(a.into_iter().chain(b)),
            }
        }
    }
}

/// Converts an error to a failure; `None` when the error means that there was no response.
fn lookup_failure(endpoint: &Endpoint, error: &ResolveError) -> Option<Failure> {
    let host = &endpoint.host;
    let (kind, detail) = match error {
        ResolveError::Dns(DnsError::NoRecordsFound(NoRecords { response_code, .. })) => {
            match *response_code {
                ResponseCode::NXDomain => (FailureKind::NameNotFound, format!("`{host}` (NXDOMAIN)")),
                ResponseCode::NoError => {
                    return Some(no_address_failure(endpoint, "the resolver has no such record"));
                }
                code => (FailureKind::ResolverError, format!("`{host}`: {code}")),
            }
        }
        ResolveError::Dns(DnsError::ResponseCode(code)) => {
            (FailureKind::ResolverError, format!("`{host}`: {code}"))
        }
        ResolveError::Dns(_) | ResolveError::Proto(_) => {
            (FailureKind::ResolverError, format!("`{host}`: {error}"))
        }
        ResolveError::Io(error) if is_out_of_sockets(error) => (FailureKind::NoSocketLeft, error.to_string()),
        _ => return None,
    };
    Some(Failure::new(Phase::Resolve, kind, detail))
}

fn no_address_failure(endpoint: &Endpoint, reason: &str) -> Failure {
    let detail = format!("`{}` has no {} address: {reason}", endpoint.host, endpoint.address_family.as_str());
    Failure::new(Phase::Resolve, FailureKind::NameWithoutAddress, detail)
}

fn is_out_of_sockets(error: &io::Error) -> bool {
    socket::socket_failure_kind(error) == Some(FailureKind::NoSocketLeft)
}
