//! Masks the secrets of the work that a thread does at the moment, in log lines and panic messages, whatever writes
//! them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::redactor::Redactor;

thread_local! {
    static CURRENT_REDACTORS: RefCell<Vec<Redactor>> = const { RefCell::new(Vec::new()) };
}

/// The redactors of a piece of work.
#[derive(Clone, Debug, Default)]
pub struct RedactionScope(Vec<Redactor>);

impl RedactionScope {
    /// Creates the scope of `redactors`. Those without secrets cost nothing.
    #[must_use]
    pub fn new(redactors: impl IntoIterator<Item = Redactor>) -> Self {
        Self(redactors.into_iter().filter(|redactor| !redactor.is_empty()).collect())
    }

    /// Returns the scope of what this thread does now, for work that it hands to another thread.
    #[must_use]
    pub fn current() -> Self {
        Self(CURRENT_REDACTORS.with_borrow(Clone::clone))
    }

    /// Runs `work` in this scope.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let _guard = ScopeGuard::enter(&self.0);
        work()
    }

    /// Returns a future that runs in this scope whenever it is polled.
    pub fn wrap<F: Future + Unpin>(self, future: F) -> ScopedFuture<F> {
        ScopedFuture { future, scope: self }
    }
}

/// A future that runs in a [`RedactionScope`].
pub struct ScopedFuture<F> {
    future: F,
    scope: RedactionScope,
}

impl<F: Future + Unpin> Future for ScopedFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Self { future, scope } = self.get_mut();
        scope.run(|| Pin::new(future).poll(cx))
    }
}

/// Masks in `text` the secrets of what this thread does now.
#[must_use]
pub fn redact_in_scope(text: &str) -> Cow<'_, str> {
    CURRENT_REDACTORS.with_borrow(|redactors| {
        let mut redacted = Cow::Borrowed(text);
        for redactor in redactors {
            if let Cow::Owned(masked) = redactor.redact(&redacted) {
                redacted = Cow::Owned(masked);
            }
        }
        redacted
    })
}

/// Leaves the scope when it is dropped, a panic included. Holds the number of redactors before it.
struct ScopeGuard(usize);

impl ScopeGuard {
    fn enter(redactors: &[Redactor]) -> Self {
        CURRENT_REDACTORS.with_borrow_mut(|current| {
            let redactors_before = current.len();
            current.extend_from_slice(redactors);
            Self(redactors_before)
        })
    }
}

impl Drop for ScopeGuard {
    fn drop(&mut self) {
        CURRENT_REDACTORS.with_borrow_mut(|current| current.truncate(self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(secret: &str) -> RedactionScope {
        RedactionScope::new([Redactor::from_secrets([secret].into_iter()), Redactor::default()])
    }

    #[test]
    fn a_scope_masks_until_it_ends_even_by_a_panic() {
        let inner = || redact_in_scope("outer-secret inner-secret").into_owned();
        scope("outer-secret").run(|| {
            assert_eq!(scope("inner-secret").run(inner), "******** ********");
            let panicking = || scope("inner-secret").run(|| panic!("a fault of the test"));
            std::panic::catch_unwind(panicking).unwrap_err();
            assert_eq!(inner(), "******** inner-secret");
            let handed_over = RedactionScope::current();
            let elsewhere =
                std::thread::spawn(move || handed_over.run(|| redact_in_scope("outer-secret").len()));
            assert_eq!(elsewhere.join().unwrap(), 8);
        });
        assert_eq!(inner(), "outer-secret inner-secret");
    }

    #[tokio::test]
    async fn a_future_is_in_its_scope_after_every_pause() {
        let future = Box::pin(async {
            let before = redact_in_scope("the-secret").into_owned();
            tokio::task::yield_now().await;
            [before, redact_in_scope("the-secret").into_owned()]
        });
        let (masked, outside_of_scope) = tokio::join!(scope("the-secret").wrap(future), async {
            redact_in_scope("the-secret").into_owned()
        });
        assert_eq!(
            (masked, outside_of_scope.as_str()),
            (["********".to_owned(), "********".to_owned()], "the-secret")
        );
    }
}
