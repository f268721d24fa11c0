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
    /// Returns the addresses of `to`, in the order to try them. A pinned address or a literal needs no query. NXDOMAIN,
    /// no data and errors of the resolver have failure kinds of their own (51). When the resolver does not respond, the
    /// control name is queried: if that works, the failure is about this name (51), otherwise about the resolver (21).
    pub async fn resolve(
        &self,
        to: &Endpoint,
        deadline: Deadline,
        trace: &mut ConnectionTrace,
    ) -> Result<Vec<IpAddr>, Failure> {
        let started = tokio::time::Instant::now();
        let found = match to.address_without_lookup() {
            Some(address) if to.address_family.allows(address) => Ok(vec![address]),
            Some(address) => {
                Err(no_address_failure(to, &format!("`{address}` is not of the configured family")))
            }
            // On the heap: literals need no space for it.
            None => Box::pin(self.lookup_host(to, deadline)).await,
        };
        trace.phases.add(Phase::Resolve, started.elapsed());
        if let Ok(addresses) = &found {
            trace.resolved_addresses.clone_from(addresses);
        }
        found
    }

    async fn lookup_host(&self, to: &Endpoint, deadline: Deadline) -> Result<Vec<IpAddr>, Failure> {
        let name = Name::from_utf8(&to.host).map_err(|error| {
            let detail = format!("`{}` is not a valid host name: {error}", to.host);
            Failure::new(Phase::Resolve, FailureKind::NameNotFound, detail)
        })?;
        if let Some(addresses) = self.stack.resolver.lookup_hosts_file(&name, to.address_family) {
            return if addresses.is_empty() {
                Err(no_address_failure(to, "/etc/hosts has only addresses of another family"))
            } else {
                Ok(self.order_addresses(addresses, to.address_family))
            };
        }
        let timeout = LOOKUP_TIMEOUT.min(deadline.remaining() * 2 / 3);
        match tokio::time::timeout(timeout, self.stack.resolver.lookup_addresses(&name, to.address_family))
            .await
        {
            Ok(Ok(addresses)) if addresses.is_empty() => {
                Err(no_address_failure(to, "the response contains no address"))
            }
            Ok(Ok(addresses)) => Ok(self.order_addresses(addresses, to.address_family)),
            Ok(Err(error)) => match lookup_failure(to, &error) {
                Some(failure) => Err(failure),
                None => Err(self.no_response_failure(to, deadline, &error.to_string()).await),
            },
            Err(_) => Err(self
                .no_response_failure(to, deadline, &format!("no response within {timeout:.1?}"))
                .await),
        }
    }

    /// Finds out whether the resolver is unresponsive, or only the servers of this name.
    async fn no_response_failure(&self, to: &Endpoint, deadline: Deadline, what: &str) -> Failure {
        let timeout = CONTROL_LOOKUP_TIMEOUT.min(deadline.remaining());
        let query =
            self.stack.resolver.dns_client.lookup(self.stack.resolver.control_name.clone(), RecordType::NS);
        let responded = match tokio::time::timeout(timeout, query).await {
            Ok(Ok(_)) => true,
            // An error of this host, such as no free socket, is not a response.
            Ok(Err(error)) => match lookup_failure(to, &error) {
                Some(failure) if failure.fault == Fault::Vigie => return failure,
                answer => answer.is_some(),
            },
            Err(_) => false,
        };
        let host = &to.host;
        if responded {
            Failure::new(Phase::Resolve, FailureKind::NameUnanswered, format!("`{host}`: {what}"))
        } else {
            let control = &self.stack.resolver.control_name;
            let detail =
                format!("querying `{host}`: {what}; the control name `{control}` got no response either");
            Failure::new(Phase::Resolve, FailureKind::ResolverUnresponsive, detail)
        }
    }

    /// Alternates between the families (RFC 8305 4), starting with the preferred one.
    fn order_addresses(&self, addresses: Vec<IpAddr>, family: AddressFamily) -> Vec<IpAddr> {
        let (six, four): (Vec<IpAddr>, Vec<IpAddr>) = addresses.into_iter().partition(IpAddr::is_ipv6);
        let routed = |address: &IpAddr| {
            socket::check_local_route(&self.stack.source_binding, SocketAddr::new(*address, 53)).is_ok()
        };
        let six_first =
            family == AddressFamily::V6Preferred || four.is_empty() || six.first().is_some_and(routed);
        let (mut first, mut second) = if six_first { (six, four) } else { (four, six) };
        if family == AddressFamily::V6Preferred {
            first.append(&mut second);
            return first;
        }
        let mut order = Vec::with_capacity(first.len() + second.len());
        let (mut first, mut second) = (first.into_iter(), second.into_iter());
        loop {
            match (first.next(), second.next()) {
                (None, None) => return order,
                (a, b) => order.extend(a.into_iter().chain(b)),
            }
        }
    }
}

/// Converts an error to a failure; `None` when the error means that there was no response.
fn lookup_failure(to: &Endpoint, error: &ResolveError) -> Option<Failure> {
    let host = &to.host;
    let (kind, detail) = match error {
        ResolveError::Dns(DnsError::NoRecordsFound(NoRecords { response_code, .. })) => {
            match *response_code {
                ResponseCode::NXDomain => (FailureKind::NameNotFound, format!("`{host}` (NXDOMAIN)")),
                ResponseCode::NoError => {
                    return Some(no_address_failure(to, "the resolver has no such record"));
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
        ResolveError::Io(error) if is_out_of_sockets(error) => (FailureKind::NoSocket, error.to_string()),
        _ => return None,
    };
    Some(Failure::new(Phase::Resolve, kind, detail))
}

fn no_address_failure(to: &Endpoint, reason: &str) -> Failure {
    let detail = format!("`{}` has no {} address: {reason}", to.host, to.address_family.as_str());
    Failure::new(Phase::Resolve, FailureKind::NameWithoutAddress, detail)
}

fn is_out_of_sockets(error: &io::Error) -> bool {
    socket::socket_failure_kind(error) == Some(FailureKind::NoSocket)
}
