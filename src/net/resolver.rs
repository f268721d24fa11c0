//! Name servers, and questions to them.

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

use super::endpoint::AddressFamily;
use super::error::NetError;
use super::socket::SourceBinding;

/// Longest wait for the answer about a name; of a short deadline, two thirds are taken at most, so that
/// there is time to ask whether the resolver lives.
pub(super) const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// How long one family waits for the other once it has addresses. RFC 8305 3 says 50 ms, for people who
/// look at a page; here it counts more to know every address than to be quick.
const RESOLUTION_DELAY: Duration = Duration::from_millis(250);

/// Which name servers a location asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NameServers {
    /// Those of `/etc/resolv.conf`, with its search list; names of `/etc/hosts` need none of them. Both
    /// files are read when the [`Net`](super::stack::Net) is built.
    #[default]
    System,
    /// These, in this order, over UDP and TCP. Neither a search list nor `/etc/hosts` is used.
    Explicit(Vec<SocketAddr>),
}

/// Asks the name servers of a location. Keeps no answers.
pub(super) struct DnsResolver {
    pub(super) resolver: TokioResolver,
    hosts: Hosts,
    pub(super) control_name: Name,
}

impl std::fmt::Debug for DnsResolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").field("control", &self.control_name).finish_non_exhaustive()
    }
}

impl DnsResolver {
    pub(super) fn new(
        servers: &NameServers,
        control: &str,
        source: &SourceBinding,
    ) -> Result<Self, NetError> {
        let fault = |error: &dyn std::fmt::Display| NetError::Resolver(error.to_string());
        let (config, ndots) = match servers {
            // A host without a resolver still checks what has an address.
            NameServers::System => match system_conf::read_system_conf() {
                Ok((config, options)) => (config, options.ndots),
                Err(_) => (ResolverConfig::default(), 1),
            },
            NameServers::Explicit(servers) => {
                let servers = servers.iter().map(|&address| name_server_config(address)).collect();
                (ResolverConfig::from_parts(None, Vec::new(), servers), 1)
            }
        };
        let resolver =
            Resolver::builder_with_config(bind_to_source(config, source), TokioRuntimeProvider::default())
                .with_options(resolver_options(ndots))
                .build()
                .map_err(|error| fault(&error))?;
        let hosts = match servers {
            NameServers::System => Hosts::from_system().unwrap_or_default(),
            NameServers::Explicit(_) => Hosts::default(),
        };
        let control = Name::from_ascii(control).map_err(|error| {
            NetError::Resolver(format!("`{control}` cannot be the resolver's control name: {error}"))
        })?;
        Ok(Self { resolver, hosts, control_name: control })
    }
}

fn name_server_config(address: SocketAddr) -> NameServerConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = address.port();
        connection
    });
    NameServerConfig::new(address.ip(), true, connections.into())
}

/// Lets questions leave from the source address of the location, each from a random port. A name server
/// on loopback, such as a local cache, is asked from loopback: many take no questions from elsewhere.
fn bind_to_source(config: ResolverConfig, source: &SourceBinding) -> ResolverConfig {
    let (domain, search, mut servers) = config.into_parts();
    for server in &mut servers {
        let from = source.bind_address_for(server.ip);
        let from = from.filter(|from| from.ip().is_loopback() == server.ip.is_loopback());
        for connection in &mut server.connections {
            connection.bind_addr = from;
        }
    }
    ResolverConfig::from_parts(domain, search, servers)
}

fn resolver_options(ndots: usize) -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.ndots = ndots;
    options.timeout = LOOKUP_TIMEOUT;
    // Lost packets are sent again within one attempt; a second attempt would begin after the deadline.
    options.attempts = 0;
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options.server_ordering_strategy = ServerOrderingStrategy::UserProvidedOrder;
    options
}

impl DnsResolver {
    /// The addresses of `name` in the hosts file; `None` when it does not stand there.
    pub(super) fn lookup_hosts_file(&self, name: &Name, family: AddressFamily) -> Option<Vec<IpAddr>> {
        let of = |kind| self.hosts.lookup_static_host(&Query::query(name.clone(), kind));
        let (six, four) = (of(RecordType::AAAA), of(RecordType::A));
        if six.is_none() && four.is_none() {
            return None;
        }
        let found = six.iter().chain(&four).flat_map(ip_addresses).filter(|&address| family.allows(address));
        Some(found.collect())
    }

    pub(super) async fn lookup(&self, name: &Name, family: AddressFamily) -> Result<Vec<IpAddr>, DnsFault> {
        let of = async |kind| {
            let answer = self.resolver.lookup(name.clone(), kind).await?;
            Ok::<_, DnsFault>(ip_addresses(&answer).collect::<Vec<_>>())
        };
        match family {
            AddressFamily::V4Only => of(RecordType::A).await,
            AddressFamily::V6Only => of(RecordType::AAAA).await,
            AddressFamily::Any | AddressFamily::V6Preferred => {
                lookup_both_families(std::pin::pin!(of(RecordType::AAAA)), std::pin::pin!(of(RecordType::A)))
                    .await
            }
        }
    }
}

type LookupResult = Result<Vec<IpAddr>, DnsFault>;

/// What both questions bring. Once one has addresses the other gets [`RESOLUTION_DELAY`] more; a fault counts
/// only when neither has any, and then the clearer one of the two.
async fn lookup_both_families<A, B>(six: A, four: B) -> LookupResult
where
    A: Future<Output = LookupResult> + Unpin,
    B: Future<Output = LookupResult> + Unpin,
{
    let (early, late) = match select(six, four).await {
        Either::Left((early, four)) => await_second_family(early, four).await,
        Either::Right((early, six)) => await_second_family(early, six).await,
    };
    match (early, late) {
        (early, None) => early,
        (Ok(mut early), Some(Ok(late))) => {
            early.extend(late);
            Ok(early)
        }
        (Ok(found), Some(Err(error))) | (Err(error), Some(Ok(found))) => {
            if found.is_empty() {
                Err(error)
            } else {
                Ok(found)
            }
        }
        (Err(early), Some(Err(late))) => {
            Err(if error_rank(&late) < error_rank(&early) { late } else { early })
        }
    }
}

pub(super) async fn await_second_family(
    early: LookupResult,
    rest: impl Future<Output = LookupResult>,
) -> (LookupResult, Option<LookupResult>) {
    let late = if early.as_ref().is_ok_and(|found| !found.is_empty()) {
        tokio::time::timeout(RESOLUTION_DELAY, rest).await.ok()
    } else {
        Some(rest.await)
    };
    (early, late)
}

pub(super) fn ip_addresses(answer: &Lookup) -> impl Iterator<Item = IpAddr> {
    answer.answers().iter().filter_map(|record| record.data.ip_addr())
}

/// Which of two faults says more about the name: it is gone, an error about it, no such record, silence.
fn error_rank(error: &DnsFault) -> u8 {
    match error {
        DnsFault::Dns(DnsError::NoRecordsFound(NoRecords { response_code, .. })) => match *response_code {
            ResponseCode::NXDomain => 0,
            ResponseCode::NoError => 2,
            _ => 1,
        },
        DnsFault::Dns(_) | DnsFault::Proto(_) => 1,
        _ => 3,
    }
}
