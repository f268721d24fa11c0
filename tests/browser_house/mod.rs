//! Browsers are had and nothing of them is left; their forward proxy lets through what it should. Real browsers,
//! where this host has them.

mod apart;
mod endings;
mod forward;
mod sessions;
mod world;
