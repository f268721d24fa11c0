//! Tests of the scan of TLS servers: against real ones, next to what testssl.sh says about them, and hostile ones.

mod certificates;
mod comparison;
mod differences;
mod hostile;
mod manual;
mod our_headers;
mod our_scan;
mod record;
mod scripted;
mod servers;
mod setups;
mod testssl;
