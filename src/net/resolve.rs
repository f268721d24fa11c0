//! Names to addresses, afresh for every attempt (behaviour.md 4, Addresses).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures::future::{Either, select};
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts, ServerOrderingStrategy,
};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError as DnsFault, NoRecords};
use hickory_resolver::proto::op::{Query, ResponseCode};
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::{Hosts, Resolver, TokioResolver, system_conf};

use super::deadline::Deadline;
use super::endpoint::{Endpoint, Family, Trace};
use super::error::NetError;
use super::socket;
use super::socket::Source;
use super::stack::Net;
use crate::domain::{Failure, FailureKind, Fault, Phase};

/// Longest wait for the answer about a name; of a short deadline, two thirds are taken at most, so that
/// there is time to ask whether the resolver lives.
const QUESTION: Duration = Duration::from_secs(10);
/// Longest wait for the answer about the control name.
const CONTROL: Duration = Duration::from_secs(2);
/// How long one family waits for the other once it has addresses. RFC 8305 3 says 50 ms, for people who
/// look at a page; here it counts more to know every address than to be quick.
const OTHER_FAMILY: Duration = Duration::from_millis(250);

/// Which name servers a location asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NameServers {
    /// Those of `/etc/resolv.conf`, with its search list; names of `/etc/hosts` need none of them. Both
    /// files are read when the [`Net`] is built.
    #[default]
    System,
    /// These, in this order, over UDP and TCP. Neither a search list nor `/etc/hosts` is used.
    Explicit(Vec<SocketAddr>),
}

/// Asks the name servers of a location. Keeps no answers.
pub(super) struct Names {
    resolver: TokioResolver,
    hosts: Hosts,
    control: Name,
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").field("control", &self.control).finish_non_exhaustive()
    }
}

impl Names {
    pub(super) fn new(servers: &NameServers, control: &str, source: &Source) -> Result<Self, NetError> {
        let fault = |error: &dyn std::fmt::Display| NetError::Resolver(error.to_string());
        let (config, ndots) = match servers {
            // A host without a resolver still checks what has an address.
            NameServers::System => match system_conf::read_system_conf() {
                Ok((config, options)) => (config, options.ndots),
                Err(_) => (ResolverConfig::default(), 1),
            },
            NameServers::Explicit(servers) => {
                let servers = servers.iter().map(|&address| server(address)).collect();
                (ResolverConfig::from_parts(None, Vec::new(), servers), 1)
            }
        };
        let resolver =
            Resolver::builder_with_config(leaving_from(config, source), TokioRuntimeProvider::default())
                .with_options(options(ndots))
                .build()
                .map_err(|error| fault(&error))?;
        let hosts = match servers {
            NameServers::System => Hosts::from_system().unwrap_or_default(),
            NameServers::Explicit(_) => Hosts::default(),
        };
        let control = Name::from_ascii(control).map_err(|error| {
            NetError::Resolver(format!("`{control}` cannot be the resolver's control name: {error}"))
        })?;
        Ok(Self { resolver, hosts, control })
    }
}

fn server(address: SocketAddr) -> NameServerConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = address.port();
        connection
    });
    NameServerConfig::new(address.ip(), true, connections.into())
}

/// Lets questions leave from the source address of the location, each from a random port. A name server
/// on loopback, such as a local cache, is asked from loopback: many take no questions from elsewhere.
fn leaving_from(config: ResolverConfig, source: &Source) -> ResolverConfig {
    let (domain, search, mut servers) = config.into_parts();
    for server in &mut servers {
        let from = source.towards(server.ip);
        let from = from.filter(|from| from.ip().is_loopback() == server.ip.is_loopback());
        for connection in &mut server.connections {
            connection.bind_addr = from;
        }
    }
    ResolverConfig::from_parts(domain, search, servers)
}

fn options(ndots: usize) -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.ndots = ndots;
    options.timeout = QUESTION;
    // Lost packets are sent again within one attempt; a second attempt would begin after the deadline.
    options.attempts = 0;
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options.server_ordering_strategy = ServerOrderingStrategy::UserProvidedOrder;
    options
}

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

impl Names {
    /// The addresses of `name` in the hosts file; `None` when it does not stand there.
    fn in_hosts(&self, name: &Name, family: Family) -> Option<Vec<IpAddr>> {
        let of = |kind| self.hosts.lookup_static_host(&Query::query(name.clone(), kind));
        let (six, four) = (of(RecordType::AAAA), of(RecordType::A));
        if six.is_none() && four.is_none() {
            return None;
        }
        let found = six.iter().chain(&four).flat_map(addresses).filter(|&address| family.takes(address));
        Some(found.collect())
    }

    async fn lookup(&self, name: &Name, family: Family) -> Result<Vec<IpAddr>, DnsFault> {
        let of = async |kind| {
            let answer = self.resolver.lookup(name.clone(), kind).await?;
            Ok::<_, DnsFault>(addresses(&answer).collect::<Vec<_>>())
        };
        match family {
            Family::V4Only => of(RecordType::A).await,
            Family::V6Only => of(RecordType::AAAA).await,
            Family::Any | Family::V6Preferred => {
                both(std::pin::pin!(of(RecordType::AAAA)), std::pin::pin!(of(RecordType::A))).await
            }
        }
    }
}

type Found = Result<Vec<IpAddr>, DnsFault>;

/// What both questions bring. Once one has addresses the other gets [`OTHER_FAMILY`] more; a fault counts
/// only when neither has any, and then the clearer one of the two.
async fn both<A, B>(six: A, four: B) -> Found
where
    A: Future<Output = Found> + Unpin,
    B: Future<Output = Found> + Unpin,
{
    let (early, late) = match select(six, four).await {
        Either::Left((early, four)) => second(early, four).await,
        Either::Right((early, six)) => second(early, six).await,
    };
    match (early, late) {
        (early, None) => early,
        (Ok(mut early), Some(Ok(late))) => {
            early.extend(late);
            Ok(early)
        }
        (Ok(found), Some(Err(fault))) | (Err(fault), Some(Ok(found))) => {
            if found.is_empty() {
                Err(fault)
            } else {
                Ok(found)
            }
        }
        (Err(early), Some(Err(late))) => Err(if rank(&late) < rank(&early) { late } else { early }),
    }
}

async fn second(early: Found, rest: impl Future<Output = Found>) -> (Found, Option<Found>) {
    let late = if early.as_ref().is_ok_and(|found| !found.is_empty()) {
        tokio::time::timeout(OTHER_FAMILY, rest).await.ok()
    } else {
        Some(rest.await)
    };
    (early, late)
}

fn addresses(answer: &Lookup) -> impl Iterator<Item = IpAddr> {
    answer.answers().iter().filter_map(|record| record.data.ip_addr())
}

/// Which of two faults says more about the name: it is gone, an error about it, no such record, silence.
fn rank(fault: &DnsFault) -> u8 {
    match fault {
        DnsFault::Dns(DnsError::NoRecordsFound(NoRecords { response_code, .. })) => match *response_code {
            ResponseCode::NXDomain => 0,
            ResponseCode::NoError => 2,
            _ => 1,
        },
        DnsFault::Dns(_) | DnsFault::Proto(_) => 1,
        _ => 3,
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
