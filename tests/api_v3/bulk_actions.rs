//! What a person does with many monitors of the list: a plan, and all or nothing.

use serde_json::json;
use vigie::clock::Clock;
use vigie::domain::{CustomerId, MonitorId, Role};
use vigie::schema::Monitor;
use vigie::service::monitors::{BulkAction, do_bulk_action, plan_bulk_action};
use vigie::service::{Caller, ServiceError};

use crate::resources::kit::as_role;
use crate::support::app::{App, website};

fn caller(customer: CustomerId, role: Role) -> Caller {
    Caller { customer, ..as_role(role) }
}

/// Starts an application with three monitors and a property.
async fn filled() -> (App, Vec<MonitorId>, i64) {
    let app = App::start().await;
    let admin = app.login(Role::Admin).await;
    let values = json!([{"value": "a"}, {"value": "b"}]);
    let property = admin.post("/properties", json!({"name": "team", "values": values})).await.id();
    let mut ids = Vec::new();
    for name in ["one", "two", "three"] {
        ids.push(MonitorId(admin.post("/monitors/website", website(name, json!({}))).await.id()));
    }
    (app, ids, property)
}

fn monitor(app: &App, id: MonitorId) -> Monitor {
    app.monitors.get(id).unwrap()
}

async fn plan_and_do(app: &App, ids: &[MonitorId], action: BulkAction) -> Result<usize, ServiceError> {
    let (service, caller) = (&app.state.monitor_service, caller(CustomerId(1), Role::Admin));
    let plan = plan_bulk_action(service, &caller, ids, &action).await?;
    do_bulk_action(service, &caller, ids.to_vec(), action, &plan.fingerprint).await
}

#[tokio::test]
async fn each_action_changes_what_its_plan_says() {
    let (app, ids, property) = filled().await;
    let until = app.clock.now() + std::time::Duration::from_hours(1);
    assert_eq!(plan_and_do(&app, &ids, BulkAction::Pause(until)).await.unwrap(), 3);
    assert!(ids.iter().all(|id| monitor(&app, *id).paused_until(app.clock.now()) == Some(until)));
    assert_eq!(plan_and_do(&app, &ids[..1], BulkAction::Resume).await.unwrap(), 1);
    assert_eq!(plan_and_do(&app, &ids, BulkAction::Resume).await.unwrap(), 2, "one runs already");

    assert_eq!(plan_and_do(&app, &ids[..2], BulkAction::SetEnabled(false)).await.unwrap(), 2);
    assert_eq!(plan_and_do(&app, &ids, BulkAction::SetEnabled(false)).await.unwrap(), 1);
    assert_eq!(plan_and_do(&app, &ids, BulkAction::SetInterval(30)).await.unwrap(), 3);
    assert!(ids.iter().all(|id| monitor(&app, *id).interval().as_secs() == 1_800));

    let set = |value| BulkAction::SetProperty { property, value };
    assert_eq!(plan_and_do(&app, &ids, set(1)).await.unwrap(), 3);
    assert_eq!(plan_and_do(&app, &ids[..1], set(2)).await.unwrap(), 1);
    let value =
        |id| monitor(&app, id).document.custom_properties().map(|one| one.value_id).collect::<Vec<_>>();
    assert_eq!(ids.iter().map(|id| value(*id)).collect::<Vec<_>>(), [vec![2], vec![1], vec![1]]);
    assert_eq!(plan_and_do(&app, &ids, BulkAction::ClearProperty(property)).await.unwrap(), 3);

    let admin = app.login(Role::Admin).await;
    let alert = json!({"type": "static", "threshold": 1.5, "window": 60});
    admin.post(&format!("/monitors/{}/performance-alerts", ids[1]), alert).await.expect(200);
    assert_eq!(plan_and_do(&app, &ids, BulkAction::Clone).await.unwrap(), 3);
    let copy = app.monitors.all().into_iter().find(|monitor| monitor.name() == "Copy of two").unwrap();
    let alerts = admin.get(&format!("/monitors/{}/performance-alerts", copy.id)).await.expect(200);
    assert_eq!(alerts["results"][0]["threshold"], 1.5, "{alerts}");
    assert_eq!(app.monitors.len(), 6);
    assert_eq!(plan_and_do(&app, &ids, BulkAction::Remove).await.unwrap(), 3);
    let mut names: Vec<_> = app.monitors.all().iter().map(|monitor| monitor.name().to_owned()).collect();
    names.sort_unstable();
    assert_eq!(names, ["Copy of one", "Copy of three", "Copy of two"]);
}

#[tokio::test]
async fn a_plan_holds_only_for_what_it_was_made_for() {
    let (app, ids, property) = filled().await;
    let (service, admin) = (&app.state.monitor_service, caller(CustomerId(1), Role::Admin));
    let action = BulkAction::SetEnabled(false);
    let plan = plan_bulk_action(service, &admin, &ids, &action).await.unwrap();
    plan_and_do(&app, &ids[..1], BulkAction::SetInterval(30)).await.unwrap();
    let refused = do_bulk_action(service, &admin, ids.clone(), action.clone(), &plan.fingerprint).await;
    assert!(matches!(refused, Err(ServiceError::PreconditionFailed)), "somebody changed one meanwhile");
    let fewer = do_bulk_action(service, &admin, ids[1..].to_vec(), action.clone(), &plan.fingerprint).await;
    assert!(matches!(fewer, Err(ServiceError::PreconditionFailed)));

    let other = do_bulk_action(service, &admin, ids.clone(), BulkAction::Remove, &plan.fingerprint).await;
    assert!(
        matches!(other, Err(ServiceError::PreconditionFailed)),
        "another action than the one that was shown"
    );
    // A form that is sent twice copies once.
    let plan = plan_bulk_action(service, &admin, &ids[..1], &BulkAction::Clone).await.unwrap();
    for copied in [true, false] {
        let ids = ids[..1].to_vec();
        let done = do_bulk_action(service, &admin, ids, BulkAction::Clone, &plan.fingerprint).await;
        assert_eq!(done.is_ok(), copied, "{done:?}");
    }

    // One that cannot be changed keeps the others from it.
    let unknown = BulkAction::SetProperty { property, value: 99 };
    let plan = plan_bulk_action(service, &admin, &ids, &unknown).await.unwrap();
    assert!(plan.effects.iter().all(|effect| effect.problem.is_some() && !effect.is_change));
    let refused = do_bulk_action(service, &admin, ids.clone(), unknown, &plan.fingerprint).await;
    assert!(matches!(refused, Err(ServiceError::Conflict(_))), "{refused:?}");

    // Who may only look, and monitors of another account.
    let reader = caller(CustomerId(1), Role::ReadOnly);
    let refused = plan_bulk_action(service, &reader, &ids, &action).await;
    assert!(matches!(refused, Err(ServiceError::Forbidden(_))));
    let stranger = caller(app.account("Other").await, Role::Admin);
    let plan = plan_bulk_action(service, &stranger, &ids, &BulkAction::Remove).await.unwrap();
    assert!(plan.effects.is_empty());
    let removed =
        do_bulk_action(service, &stranger, ids.clone(), BulkAction::Remove, &plan.fingerprint).await;
    assert_eq!((removed.unwrap(), app.monitors.len()), (0, 4));
    let many: Vec<_> = (0..10_001).map(MonitorId).collect();
    let refused = plan_bulk_action(service, &admin, &many, &action).await;
    assert!(matches!(refused, Err(ServiceError::Conflict(_))));
}
