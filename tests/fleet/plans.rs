//! Billing plans with a number of monitors.

use std::sync::Arc;

use serde_json::json;
use vigie::domain::{MonitorType, Role};
use vigie::schema::reader::InputFormat;
use vigie::service::monitors;

use crate::fleet::kit::{Kit, caller, faults, website, with_plans};

const FULL: &str = "`billing_plancode`: plan `small` is full with 2 monitors";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_never_over_full_however_many_come_at_once() {
    let kit = Arc::new(Kit::over(with_plans()));
    let creates: Vec<_> = (0..30)
        .map(|_| {
            let kit = Arc::clone(&kit);
            tokio::spawn(async move { kit.create(json!({"billing_plancode": "small"})).await })
        })
        .collect();
    let mut made = 0;
    for create in creates {
        match create.await.unwrap() {
            Ok(_) => made += 1,
            Err(error) => assert_eq!(faults(error), [FULL]),
        }
    }
    assert_eq!((made, kit.monitors.monitors().len()), (2, 2));
}

#[tokio::test]
async fn a_place_under_a_plan_is_free_again_when_its_monitor_leaves() {
    let kit = Kit::over(with_plans());
    let first = kit.made(json!({"billing_plancode": "small"})).await;
    kit.made(json!({"billing_plancode": "small"})).await;
    let third = kit.made(json!({"billing_plancode": "large"})).await;
    assert_eq!(faults(kit.patch(third, json!({"billing_plancode": "small"})).await.unwrap_err()), [FULL]);
    kit.patch(first, json!({"note": "its own place counts"})).await.unwrap();
    kit.patch(first, json!({"billing_plancode": "large"})).await.unwrap();
    kit.patch(third, json!({"billing_plancode": "small"})).await.unwrap();
    let kit = kit.restarted().await;
    assert_eq!(faults(kit.create(json!({"billing_plancode": "small"})).await.unwrap_err()), [FULL]);
    monitors::delete(&kit.monitors, &crate::fleet::kit::admin(), third, None).await.unwrap();
    kit.made(json!({"billing_plancode": "small"})).await;
}

#[tokio::test]
async fn each_account_has_places_of_its_own() {
    let kit = Kit::over(with_plans());
    for customer in [1, 1, 2, 2] {
        let (caller, body) = (caller(customer, Role::Admin), website(json!({"billing_plancode": "small"})));
        monitors::create(&kit.monitors, &caller, MonitorType::Website, InputFormat::V3, &body).await.unwrap();
    }
    let (caller, body) = (caller(2, Role::Admin), website(json!({"billing_plancode": "small"})));
    let full = monitors::create(&kit.monitors, &caller, MonitorType::Website, InputFormat::V3, &body).await;
    assert_eq!(faults(full.unwrap_err()), [FULL]);
}
