//! A mutex whose holders leave nothing half done.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What `mutex` holds, also after a panic of somebody who held it: one panic must not become one in every thread.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
