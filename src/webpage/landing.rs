//! What becomes of an object when something that was under way for it has come to its end.

use http::StatusCode;
use http::header::CONTENT_TYPE;
use url::Url;

use super::finds::{Finds, Found};
use super::flight::{Answer, Landed, Opened, Over, until};
use super::loader::Loader;
use super::read;
use crate::domain::{Failure, FailureKind, PageObjectKind, Phase};
use crate::protocol::http::client::{MOST_REDIRECTS, display_url, is_redirect, redirect_target};
use crate::protocol::http::{BodyContent, ResponseHead};

/// How often an object is asked for again, since the connection had ended before it was answered. Servers let a
/// connection carry some number of exchanges.
const MOST_REPEATS: u32 = 10;
/// Documents in documents that are searched: the page, and its frames.
const MOST_FRAMES: u8 = 1;

impl Loader<'_> {
    /// Takes what came of something that was under way.
    pub(super) async fn land(&mut self, landed: Landed) {
        match landed {
            Landed::Resolved { origin, object, addresses, trace } => {
                self.objects[object].told.phases.merge(&trace.phases);
                let server = &mut self.origins[origin];
                server.is_asked = false;
                match addresses {
                    Ok(addresses) => {
                        server.addresses = Some(addresses.into());
                        server.waiting.push_front(object);
                        self.under_way -= 1;
                    }
                    Err(failure) => self.give_up(origin, object, &failure),
                }
            }
            Landed::Opened { origin, object, connection, trace } => {
                self.objects[object].told.phases.merge(&trace.phases);
                match connection {
                    Ok(connection) => self.opened(origin, object, connection),
                    Err(failure) => {
                        self.origins[origin].open -= 1;
                        if self.origins[origin].was_reached {
                            self.finish(object, Some(failure));
                        } else {
                            self.give_up(origin, object, &failure);
                        }
                    }
                }
            }
            Landed::Answered { origin, object, answer } => self.answered(origin, object, *answer).await,
            Landed::Ended { origin, connection } => self.origins[origin].give_up(connection),
        }
    }

    fn opened(&mut self, number: usize, object: usize, connection: Opened) {
        let origin = &mut self.origins[number];
        origin.was_reached = true;
        let over = match connection {
            Opened::Serial(connection) => Over::Serial(connection),
            Opened::Shared(shared, driver) => {
                self.shared += 1;
                let connection = self.shared;
                self.flights.push(Box::pin(async move {
                    driver.await;
                    Landed::Ended { origin: number, connection }
                }));
                origin.is_shared = true;
                origin.shared = Some((connection, shared.clone()));
                Over::Shared(connection, shared)
            }
        };
        let began = self.objects[object].begin(self.terms.started);
        let deadline = until(self.terms.deadline, began, self.terms.object_timeout);
        self.ask(number, object, over, deadline);
    }

    /// The server cannot be reached: that is the failure of all that wait for it.
    fn give_up(&mut self, origin: usize, object: usize, failure: &Failure) {
        self.finish(object, Some(failure.clone()));
        for waiting in std::mem::take(&mut self.origins[origin].waiting) {
            self.objects[waiting].begin(self.terms.started);
            self.objects[waiting].finish(Some(failure.clone()));
        }
    }

    fn finish(&mut self, object: usize, failure: Option<Failure>) {
        self.under_way -= 1;
        self.objects[object].finish(failure);
    }

    async fn answered(&mut self, number: usize, object: usize, answer: Answer) {
        let Answer { outcome, phases, again, back, shared } = answer;
        let origin = &mut self.origins[number];
        match back {
            Some(connection) => origin.idle.push(connection),
            None if shared.is_none() => origin.open = origin.open.saturating_sub(1),
            None => {}
        }
        let held = &mut self.objects[object];
        held.told.phases.merge(&phases);
        let (head, content) = match (outcome, again) {
            (Ok(answer), _) => answer,
            (Err(_), Some(why)) if held.repeats < MOST_REPEATS => {
                held.repeats += 1;
                self.under_way -= 1;
                origin.lost(why, shared);
                origin.waiting.push_front(object);
                return;
            }
            (Err(failure), _) => return self.finish(object, Some(failure)),
        };
        if origin.is_near {
            self.jar.store(&held.url, &head.headers);
        }
        held.note(&head, &content);
        if let Some(failure) = content.failure.clone() {
            return self.finish(object, Some(failure));
        }
        if is_redirect(head.status) {
            return self.follow(object, &head);
        }
        let failure = judge(&held.url, held.hops > 0, head.status);
        let is_read =
            failure.is_none() && matches!(held.found.kind, PageObjectKind::Style | PageObjectKind::Frame);
        let read = is_read.then(|| (held.found.clone(), held.url.clone()));
        self.finish(object, failure);
        if let Some((found, url)) = read {
            self.read(found, url, &head, content).await;
        }
    }

    fn follow(&mut self, object: usize, head: &ResponseHead) {
        let held = &mut self.objects[object];
        match redirect_target(&held.url, head.status, &head.headers) {
            Err(failure) => self.finish(object, Some(failure)),
            Ok(to) if held.hops == MOST_REDIRECTS => {
                let detail =
                    format!("more than {MOST_REDIRECTS} redirects, the next one to `{}`", display_url(&to));
                let failure = Failure::new(Phase::Validate, FailureKind::RedirectLoop, detail);
                self.finish(object, Some(failure));
            }
            Ok(to) => {
                held.hops += 1;
                self.under_way -= 1;
                let origin = self.origin(&to);
                let held = &mut self.objects[object];
                (held.url, held.origin) = (to, origin);
                self.origins[origin].waiting.push_front(object);
            }
        }
    }

    /// Looks for objects in a style sheet or frame.
    async fn read(&mut self, found: Found, url: Url, head: &ResponseHead, content: BodyContent) {
        if found.kind == PageObjectKind::Frame && found.frames >= MOST_FRAMES {
            return;
        }
        let kind = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let source = read::Source { bytes: content.bytes, kind: kind.map(str::to_owned), found, url };
        let finds = std::mem::replace(&mut self.finds, Finds::new(self.terms.page));
        self.finds = read::search(source, finds).await;
        self.take_finds();
    }
}

/// Whether the answer to `url` is what was asked for; after redirects, who answered is told.
fn judge(url: &Url, is_elsewhere: bool, status: StatusCode) -> Option<Failure> {
    let from = |url| format!(" from `{}`", display_url(url));
    let detail = || format!("{}{}", status.as_u16(), if is_elsewhere { from(url) } else { String::new() });
    match status.as_u16() {
        200..300 | 304 => None,
        100..200 => Some(Failure::new(Phase::Validate, FailureKind::ResponseInvalid, detail())),
        _ => Some(Failure::new(Phase::Validate, FailureKind::HttpStatus, detail())),
    }
}
