//! A whole installation on real servers in which everything breaks, one thing after another: two controllers over
//! PostgreSQL and NATS, agents on hosts of their own. After each round, the ledger is balanced from outside: every
//! planned run is one stored result or a missed one, every outage is one episode, told once.

mod agent_host;
mod ballast;
mod books;
mod database_door;
mod earlier;
mod fault;
mod ledger;
mod play;
mod random_order;
mod repeated_messages;
mod round;
mod runbooks;
mod site;
mod store_order;
mod world;
mod writers;
