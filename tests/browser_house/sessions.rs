//! Sessions of real browsers: what they are, what they fetch, and that they go.

use serde_json::json;

use crate::world::{Site, World, browsers, wish};

#[tokio::test]
async fn a_browser_fetches_through_its_forward_proxy_and_is_gone_afterwards() {
    for kind in browsers("a_browser_fetches_through_its_forward_proxy_and_is_gone_afterwards") {
        let world = World::new();
        let site = Site::start(&[("/", "<title>Shop</title><p>Hello")]);
        let mut wish = wish(kind);
        wish.guise.viewport = (800, 600);
        wish.guise.user_agent = Some("Watcher/1".to_owned());
        let forward = world.forward(&wish).await;
        let opened = world.open(&wish, &forward).await.unwrap();
        assert!(
            !opened.facts.version.is_empty() && opened.facts.driver.contains("driver "),
            "{:?}",
            opened.facts
        );
        let (title, size) = world
            .beside(&forward, async {
                opened.client.goto(&site.url("/")).await.unwrap();
                let size = opened.client.execute("return [innerWidth, innerHeight]", vec![]).await.unwrap();
                (opened.client.title().await.unwrap(), size)
            })
            .await;
        assert_eq!((title.as_str(), size), ("Shop", json!([800, 600])), "{kind:?}");
        let head = site.heads().remove(0);
        assert!(head.contains("\r\nUser-Agent: Watcher/1\r\n"), "{head}");
        assert!(!head.to_lowercase().contains("proxy"), "{head}");
        let host = site.address.ip().to_string();
        assert_eq!(forward.way_of(&host, site.address.port()).unwrap().address, Some(site.address));
        assert!(!world.processes().is_empty());
        opened.client.close().await.unwrap();
        opened.keeper.close().await;
        assert_eq!((world.processes(), world.profiles()), (Vec::new(), Vec::new()), "{kind:?}");
    }
}
