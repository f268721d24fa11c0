//! Users of one account, each with a browser.

use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::{Server, Site};

const PASSWORD: &str = "correct horse battery";

/// Adds a user of the first account.
fn add_user(server: &Server, login: &str, role: &str) {
    let file = server.folder.path().join("password");
    std::fs::write(&file, PASSWORD).unwrap();
    server.run(&["user", "add", login, "--role", role, "--password-file", file.to_str().unwrap()]);
}

async fn sign_in(browser: &Browser, server: &Server, login: &str, password: &str) {
    browser.goto(&server.url("/sign-in")).await;
    browser.fill("[name=login]", login).await;
    browser.fill("[name=password]", password).await;
    browser.click(".sign-in button").await;
}

#[tokio::test]
async fn two_users_see_each_other_and_overwrite_nothing() {
    let site = Site::start();
    let server = Server::start("[]\n");
    add_user(&server, "ann", "ADMIN");
    add_user(&server, "bob", "POWER-USER");
    let ann = Browser::open(usual_kind(), Setup::default()).await;
    sign_in(&ann, &server, "ann", PASSWORD).await;
    ann.wait_for_text(".session", "ann").await;
    ann.goto(&server.url("/monitors/new?type=website")).await;
    ann.fill("[name=name]", "made by ann").await;
    ann.fill("[name=url]", &format!("http://127.0.0.1:{}/", site.port)).await;
    ann.click(".submit button").await;
    ann.wait_for_text("h1", "made by ann").await;
    let monitor = ann.path().await;
    let url = server.url(&monitor);
    let bob = Browser::beside(&ann).await;
    sign_in(&bob, &server, "bob", PASSWORD).await;
    bob.wait_for_text("#rows", "made by ann").await;
    bob.wait_for_text("#live-state", "Live").await;
    ann.goto(&format!("{url}/edit")).await;
    ann.fill("[name=name]", "renamed by ann").await;
    bob.goto(&format!("{url}/edit")).await;
    bob.fill("[name=name]", "renamed by bob").await;
    ann.click(".submit button").await;
    ann.wait_for_text("h1", "renamed by ann").await;
    ann.wait_for_text("#live-state", "Live").await;
    bob.click(".submit button").await;
    bob.wait_for_text(".notice.error", "Somebody else changed this").await;
    assert_eq!(bob.eval("return document.querySelector('[name=name]').value").await, "renamed by bob");
    // Who looks at it sees the change by itself, and who made it.
    bob.click(".submit button").await;
    bob.wait_for_text("h1", "renamed by bob").await;
    ann.goto(&format!("{url}/history")).await;
    ann.wait_for_text("main", "bob").await;
    bob.close().await;
    ann.close().await;
}

#[tokio::test]
async fn a_viewer_changes_the_own_password_and_an_admin_the_account() {
    let server = Server::start("[]\n");
    add_user(&server, "vera", "READONLY");
    add_user(&server, "ann", "ADMIN");
    let browser = Browser::open(usual_kind(), Setup::default()).await;
    sign_in(&browser, &server, "vera", PASSWORD).await;
    browser.wait_for_text("h1", "Monitors").await;
    browser.goto(&server.url("/account")).await;
    browser.click("a[href='/account/password']").await;
    browser.wait_for_text("h1", "Your password vera").await;
    let change = async |current: &str, new: &str, again: &str| {
        browser.fill("[name=current_password]", current).await;
        browser.fill("[name=password]", new).await;
        browser.fill("[name=password_again]", again).await;
        browser.click("main button").await;
    };
    change("wrong", "another good one", "another good one").await;
    browser.wait_for_text(".notice.error", "`current_password` is wrong").await;
    change(PASSWORD, "another good one", "another bad one").await;
    browser.wait_for_text(".notice.error", "The new passwords differ").await;
    change(PASSWORD, "short", "short").await;
    browser.wait_for_text(".notice.error", "8 to 1024 characters").await;
    change(PASSWORD, "another good one", "another good one").await;
    browser.wait_for_text(".notice", "The password is changed").await;
    browser.click(".notice a").await;
    browser.wait_for_text("h1", "Sign in").await;
    sign_in(&browser, &server, "vera", "another good one").await;
    browser.wait_for_text("h1", "Monitors").await;
    browser.goto(&server.url("/account/settings")).await;
    browser.wait_for_text("h1", "Settings").await;
    assert_eq!(browser.text(".submit button").await, "", "a viewer changes nothing of the account");
    browser.click(".session button").await;
    browser.wait_for_text("h1", "Sign in").await;

    sign_in(&browser, &server, "ann", PASSWORD).await;
    browser.wait_for_text("h1", "Monitors").await;
    browser.goto(&server.url("/account/settings")).await;
    browser.choose("[name=time_zone]", "Asia/Kolkata").await;
    browser.fill("[name=brand]", "<Shop>").await;
    browser.click("button[value='add default_locations']").await;
    browser.wait_for_text("[data-path='default_locations[0]']", "Id").await;
    browser.eval("document.querySelector('[name=\"default_locations[0].id\"]').selectedIndex = 1").await;
    browser.click("button.primary").await;
    browser.wait_for_text("footer", "times in Asia/Kolkata").await;
    browser.goto(&server.url("/account/settings")).await;
    assert_eq!(browser.eval("return document.querySelector('[name=brand]').value").await, "<Shop>");
    browser.close().await;
}
