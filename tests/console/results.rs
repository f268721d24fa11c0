//! The page of a result: sharing it, its waterfall, and its pictures.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::Value;

use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::{Server, Site};

/// Goes to the first result of the first monitor.
async fn open_result(browser: &Browser) {
    browser.wait_until("return document.querySelector('#rows .pill:not(.s-waiting)') !== null").await;
    browser.click("#rows tbody a").await;
    browser.wait_until("return document.querySelector('#results tbody a') !== null").await;
    browser.click("#results tbody a").await;
    browser.wait_until("return document.querySelector('.verdict') !== null").await;
}

async fn value_of(browser: &Browser, css: &str) -> String {
    let value = browser.eval(&format!("return document.querySelector('{css}').value")).await;
    value.as_str().unwrap().to_owned()
}

/// Signs in as the host again.
async fn sign_in(browser: &Browser, server: &Server) {
    browser.goto(&server.sign_in_link()).await;
    browser.click("main button").await;
    browser.wait_for_text("h1", "Monitors").await;
}

#[tokio::test]
async fn a_result_is_shared_opened_without_a_login_and_ended() {
    let site = Site::start();
    let server = Server::start(&site.monitor("shop", "<b>shop"));
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    open_result(&browser).await;
    browser.click(".share button").await;
    browser.wait_for_text("h1", "<b>shop is shared").await;
    let link = value_of(&browser, "#link").await;
    assert!(link.starts_with(&server.url("/shared/")), "{link}");

    browser.client.delete_all_cookies().await.unwrap();
    browser.goto(&server.url("/")).await;
    browser.wait_for_text("h1", "Sign in").await;
    browser.goto(&link).await;
    browser.wait_for_text("h1", "<b>shop").await;
    assert!(browser.text(".verdict").await.contains("The check passed"));
    assert!(browser.text("main").await.contains("Shared by a link"));
    let links = browser.eval("return document.querySelectorAll('a:not(.skip), form').length").await;
    assert_eq!(links, Value::from(0), "a link leads away");

    sign_in(&browser, &server).await;
    browser.goto(&server.url("/shares")).await;
    browser.wait_for_text("main", "<b>shop").await;
    browser.click("main td form button").await;
    browser.wait_for_text("main", "No result is shared").await;
    browser.client.delete_all_cookies().await.unwrap();
    browser.goto(&link).await;
    browser.wait_for_text("h1", "Not found").await;
    let token = link.rsplit('/').next().unwrap();
    assert!(!server.log().contains(token), "the log has the token");
    browser.close().await;
}

/// Serves a page with a picture, and a script that is missing; returns its port.
fn serve_page() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let page = r#"<html><body><img src="/a.png"><script src="/gone.js"></script></body></html>"#;
            let (status, kind, body) = match request.split(' ').nth(1) {
                Some("/") => ("200 OK", "text/html", page),
                Some("/a.png") => ("200 OK", "image/png", "picture"),
                _ => ("404 Not Found", "text/plain", "gone"),
            };
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    port
}

#[tokio::test]
async fn a_waterfall_has_the_document_and_is_narrowed_to_what_failed() {
    let port = serve_page();
    let monitor = format!(
        "- {{key: page, type: website, name: page, billing_plancode: x, url: 'http://127.0.0.1:{port}/', interval: 1, timeout: 10, interval_fullpage: 60}}\n"
    );
    let server = Server::start(&monitor);
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    open_result(&browser).await;
    let visible = "return [...document.querySelectorAll('.waterfall tbody tr')].filter((row) => row.checkVisibility()) \
                   .map((row) => row.dataset.kind + ' ' + row.querySelector('.pill').textContent).join(', ')";
    let rows = browser.eval(visible).await.as_str().unwrap().to_owned();
    assert!(rows.starts_with("document 200, "), "{rows}");
    assert!(rows.contains("image 200") && rows.contains("script 404 failed"), "{rows}");
    browser.click(".waterfall [value=image]").await;
    assert_eq!(browser.eval(visible).await, "image 200");
    browser.click(".waterfall [value=failed]").await;
    assert_eq!(browser.eval(visible).await, "script 404 failed");
    browser.click(".waterfall [value=all]").await;
    assert_eq!(browser.eval(visible).await, rows.as_str());
    browser.close().await;
}

/// Puts two pictures on the page, and starts the script for them again.
const ADD_PICTURES: &str = "
    const done = arguments[arguments.length - 1];
    const icon = document.querySelector('.brand img').src;
    const figure = (text) => `<figure><a href='${icon}#${text}'><img src='${icon}' alt='${text}'></a></figure>`;
    document.querySelector('main').innerHTML = `<div class='shots'>${figure('first')}${figure('second')}</div>`;
    const main = document.querySelector('script[type=module]').src;
    import(main.replace('main.js', 'zoom.js?again')).then((zoom) => done(zoom.zoomScreenshots()));
";

#[tokio::test]
async fn a_picture_is_shown_large_arrows_go_on_and_escape_closes() {
    let server = Server::start("[]\n");
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.client.execute_async(ADD_PICTURES, vec![]).await.unwrap();
    browser.click(".shots figure:nth-child(2) a").await;
    browser.wait_until("return document.querySelector('dialog.zoom').open").await;
    assert_eq!(browser.text(".zoom figcaption").await, "second, 2 of 2");
    browser.type_into(".zoom", "\u{e014}").await;
    assert_eq!(browser.text(".zoom figcaption").await, "first, 1 of 2");
    browser.type_into(".zoom", "\u{e012}").await;
    assert_eq!(browser.text(".zoom figcaption").await, "second, 2 of 2");
    browser.type_into(".zoom", "\u{e00c}").await;
    browser.wait_until("return !document.querySelector('dialog.zoom').open").await;
    let focused = browser.eval("return document.activeElement.hash").await;
    assert_eq!(focused, "#second");
    browser.close().await;
}
