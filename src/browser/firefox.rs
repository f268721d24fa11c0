//! Firefox and its driver: how they are started, and what a session is asked for. See `chrome` for what is off.

use std::net::SocketAddr;

use fantoccini::Client;
use fantoccini::error::CmdError;
use fantoccini::wd::Capabilities;
use serde_json::{Value, json};

use super::binaries::Binaries;
use super::group::Program;
use super::profile::Profile;
use super::{Guise, Wish};

/// Preferences that are switched off. A profile that lives for one check has no use for a cache on disk either.
const OFF: &[&str] = &[
    "network.proxy.failover_direct",
    "network.http.http3.enable",
    "network.prefetch-next",
    "network.predictor.enabled",
    "network.captive-portal-service.enabled",
    "network.connectivity-service.enabled",
    "media.peerconnection.enabled",
    "media.gmp-manager.updateEnabled",
    "app.update.enabled",
    "app.update.auto",
    "app.normandy.enabled",
    "app.shield.optoutstudies.enabled",
    "extensions.update.enabled",
    "extensions.getAddons.cache.enabled",
    "extensions.systemAddon.update.enabled",
    "browser.safebrowsing.malware.enabled",
    "browser.safebrowsing.phishing.enabled",
    "browser.safebrowsing.downloads.enabled",
    "browser.safebrowsing.downloads.remote.enabled",
    "browser.search.update",
    "browser.search.suggest.enabled",
    "browser.translations.enable",
    "browser.shell.checkDefaultBrowser",
    "browser.newtabpage.activity-stream.feeds.system.topstories",
    "browser.region.update.enabled",
    "datareporting.policy.dataSubmissionEnabled",
    "datareporting.healthreport.uploadEnabled",
    "toolkit.telemetry.enabled",
    "toolkit.telemetry.unified",
    "identity.fxaccounts.enabled",
    "signon.rememberSignons",
    "dom.security.https_first",
    "dom.security.https_first_schemeless",
    "dom.security.https_only_mode",
    "browser.cache.disk.enable",
    "browser.sessionstore.resume_from_crash",
];
/// Preferences with a number.
const NUMBERS: &[(&str, i64)] = &[
    ("network.proxy.type", 1),
    ("network.trr.mode", 5),
    ("network.http.speculative-parallel-limit", 0),
    ("permissions.default.desktop-notification", 2),
    ("permissions.default.geo", 2),
];
/// Preferences that are switched on.
const ON: &[&str] = &[
    "network.proxy.allow_hijacking_localhost",
    "network.dns.disablePrefetch",
    "network.dns.disablePrefetchFromHTTPS",
    "dom.disable_open_during_load",
];
/// Addresses that are asked for nothing.
const NOWHERE: &[(&str, &str)] = &[
    ("network.proxy.no_proxies_on", ""),
    ("browser.aboutHomeSnippets.updateUrl", ""),
    ("browser.region.network.url", ""),
    ("toolkit.telemetry.server", ""),
    ("services.settings.server", "data:,#remote-settings-dummy/v1"),
];

/// The driver, on ports of its own choice: those of the remote agent and of Marionette too.
pub(super) fn program<'a>(binaries: &'a Binaries, profile: &Profile, guise: &Guise) -> Program<'a> {
    let (width, height) = guise.viewport;
    let mut arguments: Vec<String> =
        ["--host", "127.0.0.1", "--port", "0", "--websocket-port", "0", "--profile-root"]
            .iter()
            .map(ToString::to_string)
            .collect();
    arguments.push(profile.data().display().to_string());
    Program {
        path: &binaries.driver,
        arguments,
        environment: vec![
            ("MOZ_HEADLESS_WIDTH", width.to_string()),
            ("MOZ_HEADLESS_HEIGHT", height.to_string()),
            ("MOZ_CRASHREPORTER_DISABLE", "1".to_owned()),
            ("MOZ_REMOTE_SETTINGS_DEVTOOLS", "0".to_owned()),
        ],
    }
}

/// The port in a line that the driver prints when it is ready.
pub(super) fn port_in(line: &str) -> Option<u16> {
    let rest = line.split_once("Listening on 127.0.0.1:")?.1;
    rest.trim().parse().ok().filter(|&port| port != 0)
}

/// What a session is asked for; `binaries` for a browser of this host, which goes through the proxy at `proxy`.
pub(super) fn capabilities(wish: &Wish, proxy: SocketAddr, binaries: Option<&Binaries>) -> Capabilities {
    let arguments: &[&str] = if wish.headful { &[] } else { &["-headless"] };
    let mut options = json!({ "args": arguments, "prefs": preferences(wish, proxy) });
    if let Some(binaries) = binaries {
        options["binary"] = json!(binaries.browser);
    }
    let mut all = Capabilities::new();
    all.insert("browserName".into(), json!("firefox"));
    all.insert("acceptInsecureCerts".into(), json!(super::house::takes_any_certificate(wish)));
    all.insert("pageLoadStrategy".into(), json!("normal"));
    all.insert("unhandledPromptBehavior".into(), json!("ignore"));
    if wish.journal {
        all.insert("webSocketUrl".into(), json!(true));
    }
    all.insert("moz:firefoxOptions".into(), options);
    all
}

fn preferences(wish: &Wish, proxy: SocketAddr) -> Value {
    let mut all = serde_json::Map::new();
    all.extend(OFF.iter().map(|name| (name.to_string(), json!(false))));
    all.extend(ON.iter().map(|name| (name.to_string(), json!(true))));
    all.extend(NUMBERS.iter().map(|(name, number)| (name.to_string(), json!(number))));
    all.extend(NOWHERE.iter().map(|(name, address)| (name.to_string(), json!(address))));
    let mut all = Value::Object(all);
    for protocol in ["http", "ssl"] {
        all[format!("network.proxy.{protocol}")] = json!(proxy.ip().to_string());
        all[format!("network.proxy.{protocol}_port")] = json!(proxy.port());
    }
    all["layout.css.devPixelsPerPx"] = json!(wish.guise.scale.to_string());
    if wish.guise.mobile {
        all["dom.w3c_touch_events.enabled"] = json!(1);
        all["dom.meta-viewport.enabled"] = json!(true);
        all["ui.primaryPointerCapabilities"] = json!(1);
        all["ui.allPointerCapabilities"] = json!(1);
    }
    if let Some(user_agent) = &wish.guise.user_agent {
        all["general.useragent.override"] = json!(user_agent);
    }
    all
}

/// Gives the page of the current window the size of the guise: the frame of a window takes some of its size, and
/// how much is known only when it is there. Firefox makes no window narrower than 450 pixels.
///
/// # Errors
/// What the driver says.
pub(super) async fn dress(client: &Client, guise: &Guise) -> Result<(), CmdError> {
    let frame = "return [outerWidth - innerWidth, outerHeight - innerHeight]";
    let frame = client.execute(frame, Vec::new()).await?;
    let side = |at: usize| frame[at].as_u64().and_then(|side| u32::try_from(side).ok()).unwrap_or(0);
    let (width, height) = guise.viewport;
    client.set_window_size(width.saturating_add(side(0)), height.saturating_add(side(1))).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_found_in_what_the_driver_prints() {
        for (line, port) in [
            ("1700000000000\tgeckodriver\tINFO\tListening on 127.0.0.1:4444", Some(4444)),
            ("Listening on 127.0.0.1:0", None),
            ("Listening on 127.0.0.1:99999", None),
            ("mozrunner::runner INFO Running command: \"/usr/bin/firefox\"", None),
        ] {
            assert_eq!(port_in(line), port, "{line}");
        }
    }
}
