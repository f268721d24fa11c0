//! Round trips from postfix to dovecot.

use serde_json::json;
use vigie::model::FailureKind as Kind;
use vigie::model::Phase;

use crate::kit::transcript;
use crate::mail_house::House;
use crate::trip::{Monitor, SOON, fetching};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_postfix_to_dovecot_and_away() {
    let Some(house) = House::build("a round trip through postfix and dovecot") else { return };
    let fields = |smtp: String, pop: String, password: &str| {
        json!({
            "smtp_hostname": smtp, "pop3_hostname": pop, "email": "anna@vigie.test",
            "email_password": password, "require_tls": true,
        })
    };
    let trust = [house.certificate.clone()];
    let monitor = Monitor::new(7);
    for (smtp, pop) in [
        (format!("127.0.0.1:{}", house.smtp), format!("127.0.0.1:{}", house.pop)),
        (format!("smtps://127.0.0.1:{}", house.smtps), format!("pop3s://127.0.0.1:{}", house.pops)),
    ] {
        let seen = monitor.attempt(fields(smtp, pop, "secret"), &trust, SOON).await;
        assert_eq!(seen.failure, None, "{}\n{}", transcript(&seen), house.log());
        let trip = seen.facts.trip.unwrap();
        assert!(
            trip.trip_send_us.is_some() && trip.trip_transit_us.is_some() && trip.trip_fetch_us.is_some()
        );
        assert!(!seen.facts.mail.unwrap().password_in_clear);
        assert!(seen.facts.tls.is_some());
        for phase in [Phase::Deliver, Phase::Transit, Phase::Fetch, Phase::Delete, Phase::Quit, Phase::Auth] {
            assert!(seen.phases.micros(phase).is_some(), "{phase:?}");
        }
    }
    assert!(crate::mail_house::read_mails(house.imap, "anna").is_empty(), "something was left behind");
    let wrong = fields(format!("127.0.0.1:{}", house.smtp), format!("127.0.0.1:{}", house.pop), "wrong");
    let seen = monitor.attempt(wrong, &trust, SOON).await;
    let failure = seen.failure.unwrap();
    assert_eq!(
        (failure.status().0, failure.kind, failure.phase),
        (5, Kind::LoginRefused, Phase::Auth),
        "{failure}"
    );
    assert!(failure.detail.starts_with(fetching(Phase::Auth)), "{failure}");
    assert_eq!(house.mails("anna", 1).len(), 1, "it was sent all the same");
}
