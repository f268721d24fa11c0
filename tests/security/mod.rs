//! Attacks that a user of one account could try on the host and on other accounts. Each promise of the manual's
//! security page has its test here.

mod own_services;
