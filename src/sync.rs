//! Locks for data that a panic never leaves half changed.
//!
//! They are never poisoned: a panic in one check must not become a panic of every thread that shares a lock with it.
//! All code of this crate takes its locks from here, so that no module makes that choice itself (tests/architecture).

pub use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
