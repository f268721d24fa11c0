//! The site that all monitors check. It can be down, and it knows who asked for what when.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use vigie::domain::Timestamp;

use crate::agents::network::TARGET;
use crate::daemon::ledger::now;
use crate::endurance::alerts::serve_at;

/// A request for the page of a monitor.
#[derive(Clone, Debug)]
pub struct Visit {
    pub path: String,
    pub from: IpAddr,
    pub at: Timestamp,
}

pub struct Site {
    pub address: SocketAddr,
    is_down: Arc<AtomicBool>,
    visits: Arc<Mutex<Vec<Visit>>>,
}

impl Site {
    pub fn start() -> Self {
        let (is_down, visits) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<Visit>>>::default());
        let (down, seen) = (Arc::clone(&is_down), Arc::clone(&visits));
        let address = serve_at(TARGET, move |path, _, from| {
            seen.lock().unwrap().push(Visit { path: path.to_owned(), from, at: now() });
            if down.load(Ordering::SeqCst) { 500 } else { 200 }
        });
        Self { address, is_down, visits }
    }

    pub fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::SeqCst);
    }

    pub fn visits(&self) -> Vec<Visit> {
        self.visits.lock().unwrap().clone()
    }
}
