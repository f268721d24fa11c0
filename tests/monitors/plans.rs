//! Billing plans that limit the number of monitors.

use std::sync::Arc;

use serde_json::json;
use vigie::domain::{MonitorType, Role};
use vigie::schema::reader::InputFormat;
use vigie::service::monitors;

use crate::monitors::harness::{Harness, caller, error_messages, website, with_plans};

const FULL: &str = "`billing_plancode`: plan `small` is full with 2 monitors";

// row: 2.1 billing_plancode
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_never_exceeds_its_limit_under_concurrent_creates() {
    let harness = Arc::new(Harness::over(with_plans()));
    let creates: Vec<_> = (0..30)
        .map(|_| {
            let harness = Arc::clone(&harness);
            tokio::spawn(async move { harness.create(json!({"billing_plancode": "small"})).await })
        })
        .collect();
    let mut created = 0;
    for create in creates {
        match create.await.unwrap() {
            Ok(_) => created += 1,
            Err(error) => assert_eq!(error_messages(error), [FULL]),
        }
    }
    assert_eq!((created, harness.monitors.monitor_cache().len()), (2, 2));
}

#[tokio::test]
async fn a_plan_has_capacity_again_when_a_monitor_leaves_it() {
    let harness = Harness::over(with_plans());
    let first = harness.create_monitor(json!({"billing_plancode": "small"})).await;
    harness.create_monitor(json!({"billing_plancode": "small"})).await;
    let third = harness.create_monitor(json!({"billing_plancode": "large"})).await;
    assert_eq!(
        error_messages(harness.patch(third, json!({"billing_plancode": "small"})).await.unwrap_err()),
        [FULL]
    );
    harness.patch(first, json!({"note": "its own place counts"})).await.unwrap();
    harness.patch(first, json!({"billing_plancode": "large"})).await.unwrap();
    harness.patch(third, json!({"billing_plancode": "small"})).await.unwrap();
    let harness = harness.restarted().await;
    assert_eq!(
        error_messages(harness.create(json!({"billing_plancode": "small"})).await.unwrap_err()),
        [FULL]
    );
    monitors::delete(&harness.monitors, &crate::monitors::harness::admin(), third, None).await.unwrap();
    harness.create_monitor(json!({"billing_plancode": "small"})).await;
}

#[tokio::test]
async fn plan_limits_apply_per_account() {
    let harness = Harness::over(with_plans());
    for customer in [1, 1, 2, 2] {
        let (caller, body) = (caller(customer, Role::Admin), website(json!({"billing_plancode": "small"})));
        monitors::create(&harness.monitors, &caller, MonitorType::Website, InputFormat::V3, &body)
            .await
            .unwrap();
    }
    let (caller, body) = (caller(2, Role::Admin), website(json!({"billing_plancode": "small"})));
    let full =
        monitors::create(&harness.monitors, &caller, MonitorType::Website, InputFormat::V3, &body).await;
    assert_eq!(error_messages(full.unwrap_err()), [FULL]);
}
