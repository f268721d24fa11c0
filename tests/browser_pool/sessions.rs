//! Sessions of real browsers: their properties, their requests and their end.

use serde_json::json;
use vigie::domain::FailureKind;
use vigie::forward_proxy::{BlockedHosts, ForwardProxy};
use vigie::net::{EgressPolicy, Net, NetConfig, Pem, PublicRoots, TrustConfig};

use crate::browser_pool::test_pool::{Site, TestPool, browsers, session_options};
use crate::support::lacking;
use crate::support::side_by_side::each;
use crate::support::tls_page::serve_page;
use crate::support::tls_server::{self, Authority};

#[tokio::test]
async fn a_browser_uses_its_forward_proxy_and_leaves_nothing() {
    each(browsers("a_browser_uses_its_forward_proxy_and_leaves_nothing"), async |kind| {
        let test_pool = TestPool::new();
        let site = Site::start(&[("/", "<title>Shop</title><p>Hello")]);
        let mut options = session_options(kind);
        options.emulation.viewport = (800, 600);
        options.emulation.user_agent = Some("Watcher/1".to_owned());
        options.emulation.extra_headers = vec![("X-Check".to_owned(), "a \"b\" 'c'".to_owned())];
        let forward = test_pool.forward(&options).await;
        let opened = test_pool.open(&options, &forward).await.unwrap();
        assert!(
            !opened.facts.version.is_empty() && opened.facts.driver_name_and_version.contains("driver "),
            "{:?}",
            opened.facts
        );
        let (title, size) = test_pool
            .while_serving(&forward, async {
                opened.driver_client.goto(&site.url("/")).await.unwrap();
                let size =
                    opened.driver_client.execute("return [innerWidth, innerHeight]", vec![]).await.unwrap();
                (opened.driver_client.title().await.unwrap(), size)
            })
            .await;
        assert_eq!((title.as_str(), size), ("Shop", json!([800, 600])), "{kind:?}");
        let head = site.heads().remove(0);
        assert!(head.contains("\r\nUser-Agent: Watcher/1\r\n"), "{head}");
        assert!(head.contains("\r\nX-Check: a \"b\" 'c'\r\n"), "{kind:?}: {head}");
        assert!(!head.to_lowercase().contains("proxy"), "{head}");
        assert_eq!(opened.facts.user_agent, "Watcher/1");
        let host = site.address.ip().to_string();
        assert_eq!(
            forward.target_connection(&host, site.address.port()).unwrap().peer_address,
            Some(site.address)
        );
        assert!(!test_pool.processes().is_empty());
        opened.driver_client.close().await.unwrap();
        opened.browser_process.kill_and_remove().await;
        assert_eq!((test_pool.processes(), test_pool.profiles()), (Vec::new(), Vec::new()), "{kind:?}");
    })
    .await;
}

#[tokio::test]
async fn requests_of_a_page_obey_the_rules_with_a_known_cause() {
    let page = "<img src='http://ads.example.com/x.png'><img src='http://10.1.2.3/y.png'>";
    let site = Site::start(&[("/", page)]);
    each(browsers("requests_of_a_page_obey_the_rules_with_a_known_cause"), async |kind| {
        let mut test_pool = TestPool::new();
        let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
        let egress = EgressPolicy::parse(&[], &["10.0.0.0/8"]).unwrap();
        test_pool.net =
            Net::new(&NetConfig { trust_config: trust, egress_policy: egress, ..NetConfig::default() })
                .unwrap();
        let options = session_options(kind);
        let blocked = BlockedHosts::parse(&["ads.example.com"]).unwrap();
        let forward =
            ForwardProxy::bind(test_pool.pool.proxy_config(&options, blocked).unwrap()).await.unwrap();
        let opened = test_pool.open(&options, &forward).await.unwrap();
        test_pool.while_serving(&forward, opened.driver_client.goto(&site.url("/"))).await.unwrap();
        assert_eq!(forward.last_failure("ads.example.com", 80).unwrap().kind, FailureKind::NavigationFailed);
        assert_eq!(forward.last_failure("10.1.2.3", 80).unwrap().kind, FailureKind::EgressDenied);
        drop(opened);
        test_pool.assert_empty().await;
    })
    .await;
}

#[tokio::test]
async fn a_private_ca_and_a_client_certificate_apply_to_one_session() {
    let authority = Authority::new("private");
    let server = authority.issue(&["localhost"], (2020, 2090));
    let client = authority.issue(&["watcher"], (2020, 2090));
    let config = tls_server::config(&server, rustls::ALL_VERSIONS, Some(&authority));
    let at = serve_page(config, "Secret").await;
    let pem = |text: &str| Pem { label: "test".to_owned(), text: text.as_bytes().to_vec() };
    let trust = TrustConfig {
        public_roots: PublicRoots::None,
        named_authorities: [(1, pem(&authority.pem()))].into(),
        client_certificates: [(2, pem(&client.pem()))].into(),
        ..TrustConfig::default()
    };
    each(browsers("a_private_ca_and_a_client_certificate_apply_to_one_session"), async |kind| {
        for (ca, certificate, title, cause) in
            [(Some(1), Some(2), "Secret", None), (Some(1), None, "", Some(())), (None, Some(2), "", Some(()))]
        {
            let mut test_pool = TestPool::new();
            test_pool.net =
                Net::new(&NetConfig { trust_config: trust.clone(), ..NetConfig::default() }).unwrap();
            let mut options = session_options(kind);
            (options.ca_id, options.client_certificate_id) = (ca, certificate);
            let forward = test_pool.forward(&options).await;
            let opened = test_pool.open(&options, &forward).await.unwrap();
            let title_seen = test_pool
                .while_serving(&forward, async {
                    // Firefox reports an error page as an error; Chromium does not.
                    let _ = opened.driver_client.goto(&format!("https://localhost:{}/", at.port())).await;
                    opened.driver_client.title().await.unwrap_or_default()
                })
                .await;
            assert_eq!(
                title_seen == "Secret",
                title == "Secret",
                "{kind:?} {ca:?} {certificate:?}: {title_seen}"
            );
            let failure = forward.last_failure("localhost", at.port());
            assert!(cause.is_none() || ca.is_some() || failure.is_some(), "{kind:?} {ca:?}: {failure:?}");
            drop(opened);
            test_pool.assert_empty().await;
        }
    })
    .await;
}

// Root starts browsers as another user. Without root, this test is left out.
#[tokio::test]
async fn root_starts_browsers_as_the_user_of_the_settings() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let test = "root_starts_browsers_as_the_user_of_the_settings";
    if !nix::unistd::geteuid().is_root() {
        return lacking::count(test, "root");
    }
    let user = nix::unistd::User::from_name("daemon").unwrap().unwrap();
    let site = Site::start(&[("/", "<title>Shop</title>")]);
    each(browsers(test), async |kind| {
        // The browser's own sandbox needs namespaces, which containers often forbid.
        let test_pool = TestPool::with(|config| {
            (config.os_user, config.use_sandbox) = (Some("daemon".to_owned()), false);
        });
        // The user can reach its own profile and list no other.
        std::fs::set_permissions(test_pool.folder.path(), PermissionsExt::from_mode(0o711)).unwrap();
        let options = session_options(kind);
        let forward = test_pool.forward(&options).await;
        let opened = test_pool.open(&options, &forward).await.unwrap();
        test_pool.while_serving(&forward, opened.driver_client.goto(&site.url("/"))).await.unwrap();
        assert_eq!(opened.driver_client.title().await.unwrap(), "Shop", "{kind:?}");
        for line in test_pool.processes() {
            let path = line.split(' ').next().unwrap();
            // A process that has ended meanwhile has no owner.
            let owner = std::fs::metadata(path).map_or(user.uid.as_raw(), |found| found.uid());
            assert_eq!(owner, user.uid.as_raw(), "{line}");
        }
        assert!(!test_pool.processes().is_empty());
        drop(opened);
        test_pool.assert_empty().await;
    })
    .await;
}
