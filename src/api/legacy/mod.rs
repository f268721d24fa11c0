//! The legacy API, base `/legacy-api` (interface.md 4.1, behaviour.md 2).
//!
//! Every response has HTTP status 200 and the outcome in `metadata`. Cases that behaviour.md leaves open are decided
//! as follows:
//!
//! | Case | Response |
//! |---|---|
//! | several errors | the first of: login (40), right (63), whole body (66), `site_type`, missing fields, values |
//! | several missing fields | the first in the order of interface.md 4.1 |
//! | the body is not a JSON object, is too large or was cut off | 66 `Invalid body` |
//! | another content type than `application/json` | 66 `Invalid Content-Type` |
//! | an unknown path or method | 66 `Invalid path`, 66 `Invalid method` |
//! | too many failed logins | 47, with the seconds until the next attempt |
//! | the store is busy or broken, the server shuts down | 99 and the reason |
//! | an unknown `site_type` in a filter | no monitor matches: empty results, status 0 |
//! | `id` or `site_type` empty in a query | treated as absent |
//! | a request collection (`collection-api`) | has no legacy type name: not listed, its id gives 65 |

mod call;
mod device_edits;
mod device_filter;
mod devices;
mod locations;
mod login;
mod response;
mod router;

pub use router::router;
