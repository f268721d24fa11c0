//! Debian's Prometheus scrapes a real server: every expression of the dashboard and of the alerts has data there.

mod alerts;
mod expressions;
mod scraped;
