//! The legacy API, base `/legacy-api` (interface.md 4.1, behaviour.md 2).
//!
//! Every answer has HTTP status 200 and says in `metadata` how it went. What behaviour.md leaves open is decided
//! so:
//!
//! | Case | Answer |
//! |---|---|
//! | what is wrong with several things | login (40), right (63), body as a whole (66), `site_type`, what is missing in the order of interface.md 4.1, then values |
//! | the body is no JSON object, too large or cut off | 66 `Invalid body` |
//! | another content type than `application/json` | 66 `Invalid Content-Type` |
//! | a path or method that there is not | 66 `Invalid path`, 66 `Invalid method` |
//! | too many failed logins | 47, with the seconds until the next try |
//! | the store is busy or broken, the server shuts down | 99 and what is the matter |
//! | an unknown `site_type` in a filter | no monitor fits: empty results, status 0 |
//! | `id` or `site_type` empty in a query | as if it were not there |
//! | a request collection (`collection-api`) | it has no legacy type name: not listed, its id is 65 |

mod call;
mod device_edits;
mod device_filter;
mod devices;
mod locations;
mod login;
mod response;
mod router;

pub use router::router;
