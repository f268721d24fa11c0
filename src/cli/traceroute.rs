//! `vigie traceroute`: traces the route to a host, hop by hop.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;

use super::output;
use super::settings::LocationArgs;
use crate::net::{AddressFamily, Deadline, Endpoint, Net, RouteEnd, TracerouteMethod, TracerouteOptions};

/// Most time for resolving the name, in addition to the route itself.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(15);

/// Trace the route to a host, hop by hop
///
/// Datagrams need no privilege; echo requests need a socket that the host may refuse. Sends both, and shows the
/// route that reaches further. The egress policy of the settings applies to the address.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie traceroute shop.example.com
  vigie traceroute --icmp --queries 3 192.0.2.7
  vigie traceroute -6 --json example.com

Exit codes: 0 the target replied, 1 it did not, or tracing failed, 2 wrong use.")]
pub(super) struct Args {
    /// Host name or address
    host: String,
    /// Send datagrams only
    #[arg(long, conflicts_with = "icmp")]
    udp: bool,
    /// Send echo requests only
    #[arg(long)]
    icmp: bool,
    /// Only over IPv4
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Only over IPv6
    #[arg(short = '6', long)]
    ipv6: bool,
    /// Most hops
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u8).range(1..=64))]
    max_hops: u8,
    /// Requests per hop
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=10))]
    queries: u8,
    /// Seconds to wait for a reply
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=30))]
    wait: u8,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    location: LocationArgs,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (_, location) = args.location.load_with_location()?;
    let mut endpoint = Endpoint::new(args.host.trim(), 0);
    endpoint.address_family = match (args.ipv4, args.ipv6) {
        (true, _) => AddressFamily::V4Only,
        (_, true) => AddressFamily::V6Only,
        _ => AddressFamily::Any,
    };
    let options = TracerouteOptions {
        method: match (args.udp, args.icmp) {
            (true, _) => Some(TracerouteMethod::Udp),
            (_, true) => Some(TracerouteMethod::Icmp),
            _ => None,
        },
        max_hops: args.max_hops,
        requests_per_hop: args.queries,
        reply_timeout: Duration::from_secs(args.wait.into()),
        ..TracerouteOptions::default()
    };
    // Requests are sent ten at a time, so this is an upper bound.
    let max_reply_waits = u32::from(options.max_hops) * u32::from(options.requests_per_hop) / 10 + 2;
    let traceroute = super::process::build_single_threaded_runtime()?.block_on(async {
        let net = Net::new(&location.net).context("the network of this location cannot be set up")?;
        let deadline = Deadline::within(RESOLVE_TIMEOUT + options.reply_timeout * max_reply_waits);
        net.traceroute(&endpoint, options, deadline).await.map_err(|failure| anyhow::anyhow!("{failure}"))
    })?;
    let text =
        if args.json { serde_json::to_string_pretty(&traceroute)? + "\n" } else { traceroute.to_string() };
    output::print(&text)?;
    let was_reached = traceroute.route.end == RouteEnd::Reached;
    Ok(if was_reached { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
