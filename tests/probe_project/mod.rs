//! Tests SoapUI projects against a REST and a SOAP service on loopback. The projects are written for these tests.

mod assertions;
mod calls;
mod check;
mod convert;
mod coverage;
mod flow;
mod goldens;
mod project;
mod requests;
mod transfers;
mod unsupported;
