//! Faults that tests of the running server inject. In a release build every function here does nothing, and the
//! environment variable `VIGIE_FAULT` is not read.
//!
//! That variable holds `POINT:KIND[:TIMES[:SKIPPED]]`, several separated by commas: the fault occurs at the named point
//! `TIMES` times (once without a number), after the point was passed `SKIPPED` times.

use crate::domain::StoreError;

/// Panics, hangs or returns an error of the store when a test asks for it at `point`.
#[cfg_attr(not(debug_assertions), expect(clippy::unused_async, reason = "a debug build may wait here"))]
pub async fn fault_point(point: &'static str) -> Result<(), StoreError> {
    #[cfg(debug_assertions)]
    match injected::next_fault(point) {
        Some(injected::InjectedFault::Hang) => std::future::pending().await,
        fault => injected::inject(fault, point)?,
    }
    #[cfg(not(debug_assertions))]
    let _ = point;
    Ok(())
}

/// Like [`fault_point`], for a thread.
pub fn blocking_fault_point(point: &'static str) -> Result<(), StoreError> {
    #[cfg(debug_assertions)]
    match injected::next_fault(point) {
        Some(injected::InjectedFault::Hang) => loop {
            std::thread::park();
        },
        fault => injected::inject(fault, point)?,
    }
    #[cfg(not(debug_assertions))]
    let _ = point;
    Ok(())
}

#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "panics are what tests ask for")]
mod injected {
    use std::sync::LazyLock;

    use crate::domain::StoreError;
    use crate::sync::Mutex;

    /// Environment variable with the planned faults.
    const ENVIRONMENT_VARIABLE: &str = "VIGIE_FAULT";
    /// Begins the message of every injected error. Tests look for it in release builds, where it must not be.
    const MARKER: &str = "fault-injected-by-a-test";

    static FAULTS: LazyLock<Mutex<Vec<PlannedFault>>> = LazyLock::new(|| {
        let text = std::env::var(ENVIRONMENT_VARIABLE).unwrap_or_default();
        Mutex::new(text.split(',').filter_map(PlannedFault::parse).collect())
    });

    #[derive(Clone, Copy)]
    pub(super) enum InjectedFault {
        Panic,
        Hang,
        DiskFull,
        Rejected,
    }

    struct PlannedFault {
        point: String,
        fault: InjectedFault,
        /// How often it still occurs.
        remaining: u32,
        /// How often `point` is passed before it occurs.
        to_skip: u32,
    }

    impl PlannedFault {
        fn parse(text: &str) -> Option<Self> {
            let mut parts = text.split(':');
            let point = parts.next().filter(|point| !point.is_empty())?.to_owned();
            let fault = match parts.next() {
                Some("panic") => InjectedFault::Panic,
                Some("hang") => InjectedFault::Hang,
                Some("full") => InjectedFault::DiskFull,
                Some("rejected") => InjectedFault::Rejected,
                other => panic!("{ENVIRONMENT_VARIABLE}: unknown fault {other:?}"),
            };
            let mut next_number_or =
                |default| parts.next().map_or(default, |text| text.parse().unwrap_or(default));
            Some(Self { point, fault, remaining: next_number_or(1), to_skip: next_number_or(0) })
        }
    }

    /// Returns the fault of this passage of `point`, if one is planned.
    pub(super) fn next_fault(point: &str) -> Option<InjectedFault> {
        let mut faults = FAULTS.lock();
        let planned = faults.iter_mut().find(|fault| fault.point == point && fault.remaining > 0)?;
        if planned.to_skip > 0 {
            planned.to_skip -= 1;
            return None;
        }
        planned.remaining -= 1;
        Some(planned.fault)
    }

    /// Panics or returns the error of `fault`; the caller hangs for [`InjectedFault::Hang`].
    pub(super) fn inject(fault: Option<InjectedFault>, point: &str) -> Result<(), StoreError> {
        let reason = || format!("{MARKER} at {point}");
        match fault {
            None | Some(InjectedFault::Hang) => Ok(()),
            Some(InjectedFault::Panic) => panic!("{}", reason()),
            Some(InjectedFault::DiskFull) => Err(StoreError::DiskFull(reason())),
            Some(InjectedFault::Rejected) => Err(StoreError::Rejected(reason())),
        }
    }
}
