//! Its recipients of what: scripted histories of runs with exactly the messages that follow, and what holds for any
//! history at all.

mod listeners;
mod properties;
mod rulings;
mod script;
mod world;

mod histories;
