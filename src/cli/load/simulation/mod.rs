//! `vigie load --simulate`: what a cluster of some size needs. Nothing of that size is started: unit costs are measured
//! on this host, or taken from the manual, and held against a simulation of the cluster second by second.

mod arithmetic;
mod cluster_plan;
mod command;
mod measure;
mod report;
mod result_flow;
mod spread;
mod unit_costs;

pub(super) use cluster_plan::ClusterPlan;
pub(super) use command::run;
