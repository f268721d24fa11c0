//! Users: filled in below.

use super::draft::Draft;
use super::rules::Bench;
use crate::control::Refusal;
use crate::model::Record;
use crate::model::source::Node;

pub(super) async fn create(_bench: &Bench<'_>, _body: &Node) -> Result<Draft, Refusal> {
    Err(Refusal::NotFound)
}
pub(super) async fn patch(_bench: &Bench<'_>, _old: &Record, _body: &Node) -> Result<Draft, Refusal> {
    Err(Refusal::NotFound)
}
pub(super) async fn remove(_bench: &Bench<'_>, _old: &Record) -> Result<(), Refusal> {
    Err(Refusal::NotFound)
}
