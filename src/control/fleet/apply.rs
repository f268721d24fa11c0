//! `vigie apply`: monitors of a folder on another machine, brought in line.

use serde_json::{Map, Value};

use super::Fleet;
use crate::control::{Caller, Refusal};
use crate::model::source::Node;
use crate::model::{MonitorId, MonitorType};

/// A monitor as a file of `vigie apply` wants it.
#[derive(Clone, Debug)]
pub struct Applied {
    /// Unique over the files.
    pub key: String,
    /// Its type.
    pub kind: MonitorType,
    /// Its fields.
    pub body: Node,
}

/// How `vigie apply` goes about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApplyOptions {
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
    /// Remove what an earlier apply made and `wanted` does not have.
    pub prune: bool,
}

/// What an apply did, or would do, to one monitor.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedChange {
    /// Its key.
    pub key: String,
    /// Its number; `None` when it was not made.
    pub id: Option<MonitorId>,
    /// `create`, `change`, `remove` or `none`.
    pub action: &'static str,
    /// The fields that differ, as they were; secrets masked.
    pub before: Map<String, Value>,
    /// The same as they are to be.
    pub after: Map<String, Value>,
    /// What its author should know.
    pub warnings: Vec<String>,
}

impl Fleet {
    /// `vigie apply`: brings the applied monitors of the caller's account in line with `wanted`, or only says
    /// what it would do. All or nothing.
    pub async fn apply(
        &self,
        _caller: &Caller,
        _wanted: Vec<Applied>,
        _options: ApplyOptions,
    ) -> Result<Vec<AppliedChange>, Refusal> {
        todo!()
    }
}
