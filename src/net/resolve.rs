//! Names to addresses, afresh for every attempt (behaviour.md 4, Addresses).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::net::{DnsError, NetError as DnsFault, NoRecords};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RecordType};

use super::deadline::Deadline;
use super::endpoint::{Endpoint, Family, Trace};
use super::names::QUESTION;
use super::socket;
use super::stack::Net;
use crate::domain::{Failure, FailureKind, Fault, Phase};

/// Longest wait for the answer about the control name.
const CONTROL: Duration = Duration::from_secs(2);
impl Net {
    /// The addresses of `to`, in the order in which they are to be tried. A pinned address or a literal
    /// asks nobody. NXDOMAIN, no data and an error of the resolver are failures of their own kinds (51);
    /// when the resolver is silent it is asked for the control name: answered, the silence was about this
    /// name (51), silent too, the resolver is away (21).
    pub async fn resolve(
        &self,
        to: &Endpoint,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<Vec<IpAddr>, Failure> {
        let started = tokio::time::Instant::now();
        let found = match to.literal() {
            Some(address) if to.family.takes(address) => Ok(vec![address]),
            Some(address) => Err(no_address(to, &format!("`{address}` is not of the wanted family"))),
            // On the heap: who asks nobody needs no room for it.
            None => Box::pin(self.ask(to, deadline)).await,
        };
        trace.phases.add(Phase::Resolve, started.elapsed());
        if let Ok(addresses) = &found {
            trace.resolved.clone_from(addresses);
        }
        found
    }

    async fn ask(&self, to: &Endpoint, deadline: Deadline) -> Result<Vec<IpAddr>, Failure> {
        let name = Name::from_utf8(&to.host).map_err(|error| {
            let detail = format!("`{}` is no host name: {error}", to.host);
            Failure::new(Phase::Resolve, FailureKind::NameNotFound, detail)
        })?;
        if let Some(addresses) = self.names.in_hosts(&name, to.family) {
            return if addresses.is_empty() {
                Err(no_address(to, "it stands in /etc/hosts with another family only"))
            } else {
                Ok(self.ordered(addresses, to.family))
            };
        }
        let patience = QUESTION.min(deadline.left() * 2 / 3);
        match tokio::time::timeout(patience, self.names.lookup(&name, to.family)).await {
            Ok(Ok(addresses)) if addresses.is_empty() => Err(no_address(to, "the answer holds no address")),
            Ok(Ok(addresses)) => Ok(self.ordered(addresses, to.family)),
            Ok(Err(fault)) => match meaning(to, &fault) {
                Some(failure) => Err(failure),
                None => Err(self.silence(to, deadline, &fault.to_string()).await),
            },
            Err(_) => Err(self.silence(to, deadline, &format!("no answer within {patience:.1?}")).await),
        }
    }

    /// Whose silence it was: that of this name's servers, or that of the resolver itself.
    async fn silence(&self, to: &Endpoint, deadline: Deadline, what: &str) -> Failure {
        let patience = CONTROL.min(deadline.left());
        let asked = self.names.resolver.lookup(self.names.control.clone(), RecordType::NS);
        let answered = match tokio::time::timeout(patience, asked).await {
            Ok(Ok(_)) => true,
            // An error of our own, such as no socket left, is no answer.
            Ok(Err(fault)) => match meaning(to, &fault) {
                Some(failure) if failure.fault == Fault::Ours => return failure,
                answer => answer.is_some(),
            },
            Err(_) => false,
        };
        let host = &to.host;
        if answered {
            Failure::new(Phase::Resolve, FailureKind::NameUnanswered, format!("`{host}`: {what}"))
        } else {
            let control = &self.names.control;
            let detail =
                format!("asked for `{host}`: {what}; the control name `{control}` got no answer either");
            Failure::new(Phase::Resolve, FailureKind::ResolverSilent, detail)
        }
    }

    /// Takes the families in turns (RFC 8305 4), beginning with the preferred one.
    fn ordered(&self, addresses: Vec<IpAddr>, family: Family) -> Vec<IpAddr> {
        let (six, four): (Vec<IpAddr>, Vec<IpAddr>) = addresses.into_iter().partition(IpAddr::is_ipv6);
        let routed =
            |address: &IpAddr| socket::own_route(&self.source, SocketAddr::new(*address, 53)).is_ok();
        let six_first = family == Family::V6Preferred || four.is_empty() || six.first().is_some_and(routed);
        let (mut first, mut second) = if six_first { (six, four) } else { (four, six) };
        if family == Family::V6Preferred {
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

/// What an answer says of the name, or what this host lacks to ask; `None` for silence.
fn meaning(to: &Endpoint, fault: &DnsFault) -> Option<Failure> {
    let host = &to.host;
    let (kind, detail) = match fault {
        DnsFault::Dns(DnsError::NoRecordsFound(NoRecords { response_code, .. })) => match *response_code {
            ResponseCode::NXDomain => (FailureKind::NameNotFound, format!("`{host}` (NXDOMAIN)")),
            ResponseCode::NoError => return Some(no_address(to, "the resolver has no such record")),
            code => (FailureKind::ResolverRefused, format!("`{host}`: {code}")),
        },
        DnsFault::Dns(DnsError::ResponseCode(code)) => {
            (FailureKind::ResolverRefused, format!("`{host}`: {code}"))
        }
        DnsFault::Dns(_) | DnsFault::Proto(_) => (FailureKind::ResolverRefused, format!("`{host}`: {fault}")),
        DnsFault::Io(error) if lacks_socket(error) => (FailureKind::NoSocket, error.to_string()),
        _ => return None,
    };
    Some(Failure::new(Phase::Resolve, kind, detail))
}

fn no_address(to: &Endpoint, why: &str) -> Failure {
    let detail = format!("`{}` has no {} address: {why}", to.host, to.family.words());
    Failure::new(Phase::Resolve, FailureKind::NameWithoutAddress, detail)
}

fn lacks_socket(error: &io::Error) -> bool {
    socket::kind_of(error) == Some(FailureKind::NoSocket)
}
