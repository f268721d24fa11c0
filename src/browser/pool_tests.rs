//! Tests of the browser pool.

use super::*;

fn browser_pool(memory_bytes: u64) -> BrowserPool {
    BrowserPool::new(BrowserPoolConfig {
        max_memory_bytes_total: Some(memory_bytes),
        ..BrowserPoolConfig::default()
    })
}

#[tokio::test(start_paused = true)]
async fn a_permit_is_waited_for_until_the_free_browser_timeout() {
    let pool = browser_pool(1);
    let deadline = Deadline::within(Duration::from_hours(1));
    let permit = pool.acquire_permit(deadline).await.unwrap();
    let started = tokio::time::Instant::now();
    let failure = pool.acquire_permit(deadline).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::BrowserTimedOut, "{failure}");
    assert!(
        failure.detail.contains("all 1 browsers that fit into memory were in use for 120 s"),
        "{failure}"
    );
    assert!(
        started.elapsed().abs_diff(FREE_BROWSER_TIMEOUT) < Duration::from_secs(1),
        "{:?}",
        started.elapsed()
    );
    let freed = async {
        tokio::time::sleep(FREE_BROWSER_TIMEOUT / 2).await;
        drop(permit);
    };
    let (second, ()) = tokio::join!(pool.acquire_permit(deadline), freed);
    assert!(second.is_ok());
}

#[test]
fn remote_browsers_do_not_limit_concurrent_checks() {
    assert_eq!(
        (browser_pool(1).max_concurrent_checks(), browser_pool(4 << 30).max_concurrent_checks()),
        (1, 2)
    );
    let url = url::Url::parse("http://grid.example/").unwrap();
    let remote = RemoteWebDriver {
        forward_proxy_ports: None,
        browser_kind: BrowserKind::Chrome,
        url,
        forward_proxy_address: None,
        client_networks: Vec::new(),
    };
    let config = BrowserPoolConfig { remotes: vec![remote], ..BrowserPoolConfig::default() };
    assert_eq!(BrowserPool::new(config).max_concurrent_checks(), usize::MAX);
}
