//! The credential of an agent on its disk, and the commands that make and renew it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use vigie::bus::nats::AgentCredential;

use super::kit::Kit;
use crate::support::binary::{err, vigie_at};

#[tokio::test]
async fn the_commands_enrol_and_renew_and_keep_the_keys_here() {
    let kit = Kit::start().await;
    let url = kit.app.serve().await;
    let (location, secret) = kit.location("north").await;
    let folder = tempfile::tempdir().unwrap();
    let (data, secret_file) = (folder.path().join("agent"), folder.path().join("secret"));
    fs::write(&secret_file, format!("{secret}\n")).unwrap();
    let (data_text, secret_text) = (data.to_str().unwrap(), secret_file.to_str().unwrap());
    let enrol =
        ["agent", "enrol", &url, "--secret-file", secret_text, "--data", data_text, "--name", "rack 9"];
    let output = vigie_at("http://127.0.0.1:1", "", &enrol).await;
    assert!(output.status.success(), "{}", err(&output));
    let file = data.join("agent.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let credential = AgentCredential::read(&data).unwrap();
    assert_eq!(credential.location_id().0, location);
    let shown = kit.admin.get(&format!("/agents/{}", credential.agent_id())).await.expect(200);
    assert_eq!(shown["name"], "rack 9");
    let client = credential.connect_options().unwrap().connect(credential.nats_urls()).await.unwrap();
    assert_eq!(client.connection_state(), async_nats::connection::State::Connected);

    let before = fs::read(&file).unwrap();
    let again = vigie_at("http://127.0.0.1:1", "", &enrol).await;
    assert!(err(&again).contains("exists already"), "{}", err(&again));
    assert_eq!(fs::read(&file).unwrap(), before);
    // The clock of the application stands still; that of the command must be near it.
    let renewed = vigie_at("http://127.0.0.1:1", "", &["agent", "renew", "--data", data_text]).await;
    assert!(renewed.status.success(), "{}", err(&renewed));
    assert_eq!(AgentCredential::read(&data).unwrap().agent_id(), credential.agent_id());
}

#[tokio::test]
async fn a_damaged_or_open_credential_is_refused() {
    let kit = Kit::start().await;
    let (_, secret) = kit.location("north").await;
    let agent = kit.enrol(&secret).await;
    let (folder, file) = (agent.folder.path(), agent.folder.path().join("agent.json"));
    let good = fs::read_to_string(&file).unwrap();
    let read = || AgentCredential::read(folder).map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(read(), Ok(()));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(read().unwrap_err().contains("chmod 600"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    for (from, to, reason) in [
        ("\"format\": 1", "\"format\": 2", "has format 2"),
        ("\"location_id\": ", "\"location_id\": 9", "is damaged"),
        ("\"user_seed\": \"S", "\"user_seed\": \"T", "is damaged"),
        ("{", "[", "is damaged"),
    ] {
        fs::write(&file, good.replacen(from, to, 1)).unwrap();
        let error = read().unwrap_err();
        assert!(error.contains(reason), "{from}: {error}");
        assert!(!error.contains("SU"), "{error}");
    }
    fs::remove_file(&file).unwrap();
    assert!(read().unwrap_err().contains("vigie agent enrol"));
}

#[tokio::test]
async fn a_grant_of_another_control_plane_is_not_taken() {
    let kit = Kit::start().await;
    let (_, secret) = kit.location("north").await;
    let agent = kit.enrol(&secret).await;
    let request = agent.credential.renewal_request("1");
    let (location, id) = (agent.credential.location_id(), agent.credential.agent_id());
    let grant = kit.app.state.agent_service.renew_over_bus(location, id, request).await.unwrap();
    let foreign = nkeys::XKey::new();
    let mut forged = grant.clone();
    forged.control_key = foreign.public_key();
    forged.data_keys.clear();
    assert!(agent.credential.apply(forged).unwrap_err().to_string().contains("another control plane"));
    agent.credential.apply(grant).unwrap();
    let due = agent.credential.renewal_due_at();
    let left = agent.credential.expires_at().since(due);
    assert_eq!(left, std::time::Duration::from_hours(12));
}
