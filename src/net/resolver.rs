//! The resolver of a location, and its name servers.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures::future::{Either, select};
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts, ServerOrderingStrategy,
};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError as ResolveError, NoRecords};
use hickory_resolver::proto::op::{Query, ResponseCode};
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::{Hosts, Resolver, TokioResolver, system_conf};

use super::endpoint::AddressFamily;
use super::error::NetConfigError;
use super::socket::SourceBinding;

/// Longest wait for the response about a name. At most two thirds of the remaining deadline, so that time is left to
/// check whether the resolver works.
pub(super) const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// How long to wait for the other family once one has addresses. RFC 8305 3 recommends 50 ms, for interactive use;
/// here complete results matter more than speed.
const RESOLUTION_DELAY: Duration = Duration::from_millis(250);

/// The name servers of a location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NameServers {
    /// Those of `/etc/resolv.conf`, with its search list; names in `/etc/hosts` need no query. Both files are read when
    /// the [`Net`](super::stack::Net) is built.
    #[default]
    System,
    /// These, in this order, over UDP and TCP, without a search list and `/etc/hosts`.
    Explicit(Vec<SocketAddr>),
}

/// Queries the name servers of a location. Does not cache.
pub(super) struct DnsResolver {
    pub(super) dns_client: TokioResolver,
    /// `/etc/hosts`, as read when the network was set up; empty for explicit name servers.
    hosts_file: Hosts,
    /// Name that is queried to see whether the resolver works at all.
    pub(super) control_name: Name,
}

impl std::fmt::Debug for DnsResolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").field("control", &self.control_name).finish_non_exhaustive()
    }
}

impl DnsResolver {
    pub(super) fn new(
        name_servers: &NameServers,
        control_name: &str,
        source: &SourceBinding,
    ) -> Result<Self, NetConfigError> {
        let to_config_error = |error: &dyn std::fmt::Display| NetConfigError::Resolver(error.to_string());
        let (config, ndots) = match name_servers {
            // A host without a resolver still checks targets with an address.
            NameServers::System => match system_conf::read_system_conf() {
                Ok((config, options)) => (config, options.ndots),
                Err(_) => (ResolverConfig::default(), 1),
            },
            NameServers::Explicit(name_servers) => {
                let name_servers = name_servers.iter().map(|&address| name_server_config(address)).collect();
                (ResolverConfig::from_parts(None, Vec::new(), name_servers), 1)
            }
        };
        let resolver =
            Resolver::builder_with_config(bind_to_source(config, source), TokioRuntimeProvider::default())
                .with_options(resolver_options(ndots))
                .build()
                .map_err(|error| to_config_error(&error))?;
        let hosts = match name_servers {
            NameServers::System => Hosts::from_system().unwrap_or_default(),
            NameServers::Explicit(_) => Hosts::default(),
        };
        let control_name = Name::from_ascii(control_name).map_err(|error| {
            NetConfigError::Resolver(format!(
                "`{control_name}` cannot be the resolver's control name: {error}"
            ))
        })?;
        Ok(Self { dns_client: resolver, hosts_file: hosts, control_name })
    }
}

fn name_server_config(address: SocketAddr) -> NameServerConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = address.port();
        connection
    });
    NameServerConfig::new(address.ip(), true, connections.into())
}

/// Sends queries from the source address of the location, each from a random port. A name server on loopback, such as a
/// local cache, is queried from loopback: many refuse queries from other addresses.
fn bind_to_source(config: ResolverConfig, source: &SourceBinding) -> ResolverConfig {
    let (domain, search, mut servers) = config.into_parts();
    for server in &mut servers {
        let source_address = source.bind_address_for(server.ip);
        let source_address = source_address
            .filter(|source_address| source_address.ip().is_loopback() == server.ip.is_loopback());
        for connection in &mut server.connections {
            connection.bind_addr = source_address;
        }
    }
    ResolverConfig::from_parts(domain, search, servers)
}

fn resolver_options(ndots: usize) -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.ndots = ndots;
    options.timeout = LOOKUP_TIMEOUT;
    // Lost packets are resent within one attempt; a second attempt would start after the deadline.
    options.attempts = 0;
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options.server_ordering_strategy = ServerOrderingStrategy::UserProvidedOrder;
    options
}

impl DnsResolver {
    /// Returns the addresses of `name` in the hosts file; `None` when it is not in the file.
    pub(super) fn lookup_hosts_file(&self, name: &Name, family: AddressFamily) -> Option<Vec<IpAddr>> {
        let lookup_record_type = |kind| self.hosts_file.lookup_static_host(&Query::query(name.clone(), kind));
        let (ipv6, ipv4) = (lookup_record_type(RecordType::AAAA), lookup_record_type(RecordType::A));
        if ipv6.is_none() && ipv4.is_none() {
            return None;
        }
        let addresses =
            ipv6.iter().chain(&ipv4).flat_map(ip_addresses).filter(|&address| family.allows(address));
        Some(addresses.collect())
    }

    /// Queries the addresses of `name` in `family`; the list is empty when the responses contain none.
    pub(super) async fn lookup_addresses(
        &self,
        name: &Name,
        family: AddressFamily,
    ) -> Result<Vec<IpAddr>, ResolveError> {
        let lookup_record_type = async |kind| {
            let response = self.dns_client.lookup(name.clone(), kind).await?;
            Ok::<_, ResolveError>(ip_addresses(&response).collect::<Vec<_>>())
        };
        match family {
            AddressFamily::V4Only => lookup_record_type(RecordType::A).await,
            AddressFamily::V6Only => lookup_record_type(RecordType::AAAA).await,
            AddressFamily::Any | AddressFamily::V6Preferred => {
                lookup_both_families(
                    std::pin::pin!(lookup_record_type(RecordType::AAAA)),
                    std::pin::pin!(lookup_record_type(RecordType::A)),
                )
                .await
            }
        }
    }
}

/// The addresses of one family.
type LookupResult = Result<Vec<IpAddr>, ResolveError>;

/// Returns the results of both queries. Once one has addresses the other gets [`RESOLUTION_DELAY`] more. An error
/// counts only when neither has addresses; then the more informative one is returned.
async fn lookup_both_families<A, B>(ipv6_query: A, ipv4_query: B) -> LookupResult
where
    A: Future<Output = LookupResult> + Unpin,
    B: Future<Output = LookupResult> + Unpin,
{
    let (first, second) = match select(ipv6_query, ipv4_query).await {
        Either::Left((first, ipv4_query)) => await_second_family(first, ipv4_query).await,
        Either::Right((first, ipv6_query)) => await_second_family(first, ipv6_query).await,
    };
    match (first, second) {
        (first, None) => first,
        (Ok(mut first), Some(Ok(second))) => {
            first.extend(second);
            Ok(first)
        }
        (Ok(addresses), Some(Err(error))) | (Err(error), Some(Ok(addresses))) => {
            if addresses.is_empty() {
                Err(error)
            } else {
                Ok(addresses)
            }
        }
        (Err(first), Some(Err(second))) => {
            Err(if error_rank(&second) < error_rank(&first) { second } else { first })
        }
    }
}

/// Waits for the second query; only [`RESOLUTION_DELAY`] long if `first` has addresses, and `None` when that passed.
pub(super) async fn await_second_family(
    first: LookupResult,
    second_query: impl Future<Output = LookupResult>,
) -> (LookupResult, Option<LookupResult>) {
    let second = if first.as_ref().is_ok_and(|found| !found.is_empty()) {
        tokio::time::timeout(RESOLUTION_DELAY, second_query).await.ok()
    } else {
        Some(second_query.await)
    };
    (first, second)
}

pub(super) fn ip_addresses(response: &Lookup) -> impl Iterator<Item = IpAddr> {
    response.answers().iter().filter_map(|record| record.data.ip_addr())
}

/// Ranks errors by how much they say about the name, lowest first: it does not exist, an error, no such record, no
/// response.
fn error_rank(error: &ResolveError) -> u8 {
    match error {
        ResolveError::Dns(DnsError::NoRecordsFound(NoRecords { response_code, .. })) => {
            match *response_code {
                ResponseCode::NXDomain => 0,
                ResponseCode::NoError => 2,
                _ => 1,
            }
        }
        ResolveError::Dns(_) | ResolveError::Proto(_) => 1,
        _ => 3,
    }
}
