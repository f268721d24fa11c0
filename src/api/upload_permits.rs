//! Limits the large request bodies that are read at once, for each account and in total. Permits are taken after the
//! login, so that uploads of one account never delay those of another.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use axum::extract::Request;
use axum::http::header;
use hyper::body::Body as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::domain::CustomerId;
use crate::sync::Mutex;

/// Size in bytes above which a body is large.
const LARGE_BODY_BYTES: u64 = 1024 * 1024;
/// Most large bodies of one account at once.
const MAX_PER_ACCOUNT: usize = 2;
/// Most large bodies at once, which bounds the memory that they take.
const MAX_TOTAL: usize = 16;

/// Permits to read large bodies.
#[derive(Debug)]
pub struct UploadPermits {
    total: Arc<Semaphore>,
    per_account: Mutex<HashMap<CustomerId, Weak<Semaphore>>>,
}

/// A permit to read one body, released on drop.
#[derive(Debug)]
pub(super) struct UploadPermit {
    _total: OwnedSemaphorePermit,
    _account: OwnedSemaphorePermit,
}

impl Default for UploadPermits {
    fn default() -> Self {
        Self { total: Arc::new(Semaphore::new(MAX_TOTAL)), per_account: Mutex::default() }
    }
}

impl UploadPermits {
    /// Waits for the permit that the body of `request` needs; `None` for a small one.
    pub(super) fn acquire<'permits>(
        &'permits self,
        account: CustomerId,
        request: &Request,
    ) -> impl Future<Output = Option<UploadPermit>> + Send + use<'permits> {
        let account_semaphore = has_large_body(request).then(|| self.account_semaphore(account));
        async move {
            // Semaphores are never closed: acquiring cannot fail. That of the account comes first, so that its waiting
            // uploads take no place of the total.
            let account_permit = account_semaphore?.acquire_owned().await.ok()?;
            let total_permit = Arc::clone(&self.total).acquire_owned().await.ok()?;
            Some(UploadPermit { _total: total_permit, _account: account_permit })
        }
    }

    fn account_semaphore(&self, account: CustomerId) -> Arc<Semaphore> {
        let mut per_account = self.per_account.lock();
        if let Some(semaphore) = per_account.get(&account).and_then(Weak::upgrade) {
            return semaphore;
        }
        per_account.retain(|_, semaphore| semaphore.strong_count() > 0);
        let semaphore = Arc::new(Semaphore::new(MAX_PER_ACCOUNT));
        per_account.insert(account, Arc::downgrade(&semaphore));
        semaphore
    }
}

/// Whether the body is large, or may be: a chunked body, or one over HTTP/2 without a length, may be of any size.
fn has_large_body(request: &Request) -> bool {
    let length = request.headers().get(header::CONTENT_LENGTH);
    match length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok()) {
        Some(length) => length > LARGE_BODY_BYTES,
        None => !request.body().is_end_stream(),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Version;
    use futures::{FutureExt, stream};

    use super::*;

    fn upload(version: Version) -> Request {
        let body = Body::from_stream(stream::iter([Ok::<_, std::io::Error>("x")]));
        Request::post("/").version(version).body(body).unwrap()
    }

    #[tokio::test]
    async fn uploads_of_one_account_leave_permits_to_the_others() {
        let permits = UploadPermits::default();
        let (flooding, other) = (CustomerId(2), CustomerId(3));
        let first = permits.acquire(flooding, &upload(Version::HTTP_11)).await;
        let second = permits.acquire(flooding, &upload(Version::HTTP_2)).await;
        assert!(first.is_some() && second.is_some());
        let large = Request::post("/").header("content-length", "1048577").body(Body::empty()).unwrap();
        assert!(permits.acquire(flooding, &large).now_or_never().is_none(), "two at once");
        assert!(permits.acquire(other, &large).now_or_never().is_some());
        let small = Request::post("/").header("content-length", "1048576").body(Body::empty()).unwrap();
        assert!(permits.acquire(flooding, &small).now_or_never().is_some(), "small ones need none");
        let empty = Request::post("/").version(Version::HTTP_2).body(Body::empty()).unwrap();
        assert!(permits.acquire(flooding, &empty).now_or_never().is_some());
        drop(first);
        assert!(permits.acquire(flooding, &large).now_or_never().is_some(), "its place is free again");
    }

    #[tokio::test]
    async fn accounts_without_uploads_take_no_memory() {
        let permits = UploadPermits::default();
        for account in 1..100 {
            drop(permits.acquire(CustomerId(account), &upload(Version::HTTP_11)).await);
        }
        assert!(permits.per_account.lock().len() <= 1, "{permits:?}");
    }
}
