//! However a check ends, nothing of its browser is left.

use crate::world::{World, browsers, wish};

#[tokio::test]
async fn a_check_that_is_dropped_takes_its_browser_with_it() {
    for kind in browsers("a_check_that_is_dropped_takes_its_browser_with_it") {
        let world = World::new();
        let wish = wish(kind);
        let forward = world.forward(&wish).await;
        let opened = world.open(&wish, &forward).await.unwrap();
        assert!(!world.processes().is_empty() && !world.profiles().is_empty());
        drop(opened);
        world.empty().await;
    }
}
