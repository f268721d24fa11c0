//! The objects that a page has, one case per line. Found objects are written as `kind reference`, in order. The page is
//! `http://site.test/dir/page`, and references are relative to `http://site.test/dir/`.

use url::Url;
use vigie::domain::PageObjectKind;
use vigie::webpage::{MAX_OBJECTS, PageObjectQueue, scan_css, scan_html};

const PAGE: &str = "http://site.test/dir/page?q";

/// HTML and the objects found in it.
const HTML: &[(&str, &[&str])] = &[
    // Images.
    ("<img src=a.png>", &["image a.png"]),
    ("<IMG SRC='/a b.png'>", &["image /a%20b.png"]),
    ("<img src=\" a.png\n\">", &["image a.png"]),
    ("<img src=a.png><img src=./a.png#x><img src=a.png?1>", &["image a.png", "image a.png?1"]),
    ("<img src=''><img><img src=#x><img src=?q><img src='page?q#top'>", &[]),
    ("<img src=data:image/png;base64,AAAA><img src='DATA:x'><img src=blob:x>", &[]),
    ("<img src=javascript:x()><img src=about:blank><img src=ftp://h/a.png><img src='http://'>", &[]),
    ("<img src=//cdn.test/a.png>", &["image http://cdn.test/a.png"]),
    ("<img src=https://user:secret@cdn.test/a.png>", &["image https://cdn.test/a.png"]),
    ("<img loading=lazy src=a.png>", &["image a.png"]),
    ("<img src=a.png src=b.png>", &["image a.png"]),
    ("<img src='a.png?x=1&amp;y=2'>", &["image a.png?x=1&y=2"]),
    ("<image src=a.png>", &["image a.png"]),
    (
        "<svg><image href=a.png /><image xlink:href=b.png /><use href=s.svg#x /><use href=#y /></svg>",
        &["image a.png", "image b.png", "image s.svg"],
    ),
    (
        "<input type=image src=a.png><input src=b.png><input type=IMAGE src=c.png>",
        &["image a.png", "image c.png"],
    ),
    (
        "<body background=a.png><table background=b.png><tr><td background=c.png>",
        &["image a.png", "image b.png", "image c.png"],
    ),
    // srcset.
    ("<img srcset='a.png 2x, b.png 1x'>", &["image b.png"]),
    ("<img srcset='a.png 2x' src=b.png>", &["image b.png"]),
    ("<img srcset='a.png 2x, c.png 3x'>", &["image a.png"]),
    ("<img srcset='a.png 0.5x, b.png 0.7x'>", &["image b.png"]),
    ("<img srcset='a.png, b.png 2x' src=c.png>", &["image a.png"]),
    ("<img srcset='a.png 600w, b.png 2000w, c.png 4000w' src=d.png>", &["image b.png"]),
    ("<img srcset='a.png 600w, b.png 1200w' src=d.png>", &["image b.png"]),
    ("<img srcset='a.png 600w,b.png 2000w' sizes='(max-width: 800px) 100vw, 500px'>", &["image a.png"]),
    ("<img srcset='a.png 600w, b.png 2000w' sizes='50vw'>", &["image b.png"]),
    ("<img srcset='a.png 600w, b.png 2000w' sizes='calc(100vw - 3em)'>", &["image b.png"]),
    ("<img srcset='data:,x 2x, b,c.png 1x' src=d.png>", &["image b,c.png"]),
    ("<img srcset=', , ' src=d.png>", &["image d.png"]),
    ("<img srcset='a.png 2q' src=d.png>", &["image d.png"]),
    ("<img srcset='a.png 1x 20h é' src=d.png>", &["image d.png"]),
    // picture.
    (
        "<picture><source srcset=a.avif type=image/avif><img src=b.png></picture><img src=c.png>",
        &["image a.avif", "image c.png"],
    ),
    (
        "<picture><source srcset=a.jxl type=image/jxl><source srcset=b.webp type=image/webp><img src=c.png></picture>",
        &["image b.webp"],
    ),
    (
        "<picture><source media='(max-width: 700px)' srcset=a.png><source media='(min-width: 701px)' \
      srcset='b.png, c.png 2x'><img src=d.png></picture>",
        &["image b.png"],
    ),
    ("<picture><source srcset=a.png></picture>", &[]),
    ("<picture><source srcset='' ><img src=d.png></picture>", &["image d.png"]),
    // Scripts.
    (
        "<script src=a.js></script><script async src=b.js></script><script type=module src=c.js></script>",
        &["script a.js", "script b.js", "script c.js"],
    ),
    (
        "<script type=text/javascript src=a.js></script><script type='application/json' src=b.json></script>\
      <script type=importmap src=c.json></script>",
        &["script a.js"],
    ),
    ("<script nomodule src=a.js></script>", &[]),
    ("<script>document.write('<img src=a.png>')</script><img src=b.png>", &["image b.png"]),
    ("<script><!-- <script> --></script><img src=b.png>", &["image b.png"]),
    // Links.
    ("<link rel=stylesheet href=a.css><link REL='StyleSheet' href=b.css>", &["style a.css", "style b.css"]),
    ("<link rel='alternate stylesheet' href=a.css><link rel=stylesheet disabled href=b.css>", &[]),
    ("<link rel=stylesheet media=print href=a.css>", &["style a.css"]),
    (
        "<link rel=icon href=a.ico><link rel='shortcut icon' href=b.ico><img src=c.png>",
        &["image c.png", "other b.ico"],
    ),
    (
        "<link rel=canonical href=a><link rel=alternate href=b><link rel=prefetch href=c><link rel=preconnect \
      href=http://d/><link rel=dns-prefetch href=http://e/><link rel=apple-touch-icon href=f>",
        &[],
    ),
    (
        "<link rel=preload as=font href=a.woff2><link rel=preload as=script href=b.js><link rel=preload as=style \
      href=c.css><link rel=preload as=fetch href=d.json><link rel=preload href=e>",
        &["font a.woff2", "script b.js", "style c.css", "other d.json"],
    ),
    ("<link rel=preload as=image href=a.png imagesrcset='b.png 1x, c.png 2x'>", &["image b.png"]),
    ("<link rel=preload as=image media=print href=a.png>", &[]),
    ("<link rel=modulepreload href=a.js><link rel=manifest href=m.json>", &["script a.js", "other m.json"]),
    // Frames and other documents.
    ("<iframe src=a.html><img src=b.png></iframe><frame src=c.html>", &["frame a.html", "frame c.html"]),
    ("<iframe src=about:blank></iframe><iframe></iframe>", &[]),
    ("<iframe srcdoc='&lt;img src=a.png>' src=b.html></iframe>", &["image a.png"]),
    (
        "<object data=a.svg type=image/svg+xml></object><embed src=b.pdf><object data=c.html type=text/html></object>",
        &["image a.svg", "other b.pdf", "frame c.html"],
    ),
    // Media.
    (
        "<video src=a.mp4 poster=p.png></video><audio src=b.ogg></audio>",
        &["image p.png", "media a.mp4", "media b.ogg"],
    ),
    (
        "<video><source src=a.mkv type=video/x-matroska><source src=b.mp4 type=video/mp4><source src=c.webm></video>",
        &["media b.mp4"],
    ),
    ("<video src=a.mp4><source src=b.mp4></video><source src=c.mp4>", &["media a.mp4"]),
    (
        "<video preload=none src=a.mp4 poster=p.png><source src=b.mp4></video><video preload=none autoplay src=c.mp4>",
        &["image p.png", "media c.mp4"],
    ),
    ("<video src=a.mp4><track src=b.vtt><track default src=c.vtt></video>", &["media a.mp4", "media c.vtt"]),
    // base.
    ("<base href=/other/><img src=a.png>", &["image /other/a.png"]),
    (
        "<img src=a.png><base href=//cdn.test/x/><base href=/no/><img src=a.png>",
        &["image a.png", "image http://cdn.test/x/a.png"],
    ),
    ("<base target=_top><base href=/b/><img src=a.png>", &["image /b/a.png"]),
    ("<base href=data:x><img src=a.png>", &["image a.png"]),
    // Ignored markup.
    ("<!-- <img src=a.png> --><![CDATA[<img src=b.png>]]>", &[]),
    ("<noscript><img src=a.png></noscript><img src=b.png>", &["image b.png"]),
    (
        "<template><img src=a.png><template></template><img src=b.png></template><img src=c.png>",
        &["image c.png"],
    ),
    (
        "<textarea><img src=a.png></textarea><title><img src=b.png></title><noframes><img src=c.png></noframes>",
        &[],
    ),
    ("<a href=a.html><form action=b><blockquote cite=c><q cite=d>", &[]),
    // Malformed HTML.
    ("<p><b><img src=a.png<div><img src='b.png><p>c", &["image a.png%3Cdiv"]),
    ("<div <img src=a.png><img src=b.png>", &["image b.png"]),
    ("<img src=a.png", &[]),
    ("<<<><img/src=a.png></p></p></div><img src=\"b.png\"alt=x>", &["image a.png", "image b.png"]),
    ("\u{0}<img src=\u{0}a.png>\u{fffd}", &["image %EF%BF%BDa.png"]),
    // Styles in the document.
    ("<p style='background: url(a.png) , url(\"b.png\")'>", &["image a.png", "image b.png"]),
    ("<p style=\"background:url('a.png'\">", &["image a.png"]),
    ("<style>p { background: url(a.png) } @import 'late.css';</style>", &["image a.png"]),
    (
        "<style>@import 'a.css'; @import url(b.css) screen; @import url('c.css') layer(x) supports(y) print;</style>",
        &["style a.css", "style b.css", "style c.css"],
    ),
    ("<style media=print>p { background: url(a.png) }</style>", &[]),
    ("<noscript><style>p{background:url(a.png)}</style></noscript>", &[]),
];

/// CSS of `http://site.test/dir/css/sheet.css` and the objects found in it.
const CSS: &[(&str, &[&str])] = &[
    ("a{background:url(a.png)}", &["image css/a.png"]),
    ("a{background:URL( \"../a.png\" )}", &["image a.png"]),
    ("a{background:url(a\\.png)}", &["image css/a.png"]),
    ("/* url(a.png) */ a{b:'url(b.png)'} c{d:url( c.png )}", &["image css/c.png"]),
    ("@charset 'utf-8'; @import 'a.css'; b{} @import 'c.css';", &["style css/a.css"]),
    ("@layer x, y; @import \"a.css\" layer;", &["style css/a.css"]),
    ("@namespace url(http://www.w3.org/1999/xhtml); a{}", &[]),
    (
        "@media print { a{background:url(a.png)} } @media screen and (min-width:1px) { b{background:url(b.png)} }",
        &["image css/b.png"],
    ),
    (
        "@supports (display:grid) { a{background:url(a.png)} } @supports not (x:y) { b{background:url(b.png)} }",
        &["image css/a.png"],
    ),
    (
        "@keyframes k { from { background:url(a.png) } } a { &:hover { background:url(b.png) } }",
        &["image css/a.png", "image css/b.png"],
    ),
    (
        "a{background:image-set(url(a.png) 1x, 'b.png' 2x), -webkit-image-set('c.png' 1x)}",
        &["image css/a.png", "image css/c.png"],
    ),
    (
        "a{background:linear-gradient(red, blue), cross-fade(url(a.png), url(b.png))}",
        &["image css/a.png", "image css/b.png"],
    ),
    ("a{filter:url(#blur);mask:url(data:image/png,x);list-style:url()}", &[]),
    (
        "@font-face{font-family:x;src:url(a.eot);src:local('X'),url(a.eot?#iefix) format('embedded-opentype'),\
      url(a.woff2) format('woff2'),url(a.ttf)}",
        &["font css/a.woff2"],
    ),
    (
        "@font-face{src:url(a.svg#x) format('svg'),url('a.ttf') format(\"truetype\");font-family:x}",
        &["font css/a.ttf"],
    ),
    ("@font-face{src:local(x)} @font-face{src:url(b.woff)", &["font css/b.woff"]),
    (
        "@font-face{src:url(a.woff2);unicode-range:U+0370-03FF} @font-face{src:url(b.woff2);unicode-range:U+0000-00FF,\
      U+0131}@font-face{unicode-range:u+4??;src:url(c.woff2)}@font-face{src:url(d.woff2);unicode-range:U+??}",
        &["font css/b.woff2", "font css/d.woff2"],
    ),
    ("a{background:url(a.png", &["image css/a.png"]),
    ("}}]) a{background:url(a.png)} url(b c) {", &["image css/a.png"]),
    ("@import", &[]),
    ("@media", &[]),
];

fn render(queue: &mut PageObjectQueue) -> Vec<String> {
    let kind = |kind| match kind {
        PageObjectKind::Image => "image",
        PageObjectKind::Script => "script",
        PageObjectKind::StyleSheet => "style",
        PageObjectKind::Frame => "frame",
        PageObjectKind::Font => "font",
        PageObjectKind::Media => "media",
        PageObjectKind::Other => "other",
        PageObjectKind::Document => "document",
    };
    let short = |url: &Url| {
        let url = url.as_str();
        let relative = url.strip_prefix("http://site.test/dir/").or(url.strip_prefix("http://site.test"));
        relative.unwrap_or(url).to_owned()
    };
    queue.drain().iter().map(|found| format!("{} {}", kind(found.kind), short(&found.url))).collect()
}

#[test]
fn every_case_of_the_tables_finds_the_listed_objects() {
    let page = Url::parse(PAGE).unwrap();
    let mut errors = Vec::new();
    for (html, expected) in HTML {
        let mut queue = PageObjectQueue::new(&page);
        scan_html(html, &page, 0, &mut queue);
        let found = render(&mut queue);
        if found != *expected {
            errors.push(format!("{html}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    for (css, expected) in CSS {
        let (mut queue, url) = sheet(&page);
        scan_css(css, &url, &url.url, &mut queue);
        let found = render(&mut queue);
        if found != *expected {
            errors.push(format!("{css}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(errors.is_empty(), "{} of {}:\n{}", errors.len(), HTML.len() + CSS.len(), errors.join("\n"));
    assert!(HTML.len() + CSS.len() >= 60);
}

fn sheet(page: &Url) -> (PageObjectQueue, vigie::webpage::FoundObject) {
    let mut queue = PageObjectQueue::new(page);
    scan_html("<link rel=stylesheet href=css/sheet.css>", page, 0, &mut queue);
    let found = queue.drain().remove(0);
    (queue, found)
}

#[test]
fn objects_of_a_style_sheet_not_for_screens_are_ignored() {
    let page = Url::parse(PAGE).unwrap();
    let mut queue = PageObjectQueue::new(&page);
    scan_html("<link rel=stylesheet media=print href=a.css>", &page, 0, &mut queue);
    let found = queue.drain().remove(0);
    scan_css("a{background:url(a.png)}", &found, &found.url, &mut queue);
    assert!(queue.drain().is_empty());
}

#[test]
fn objects_beyond_the_limit_are_counted_but_not_listed() {
    use std::fmt::Write;
    let page = Url::parse(PAGE).unwrap();
    let mut html = String::new();
    for number in 0..20_000 {
        // Tags and attributes are not closed correctly, and each image occurs twice.
        write!(html, "<div><p><a href=x><img src='{number}.png' <b>{number}<img src={number}.png>").unwrap();
    }
    let mut queue = PageObjectQueue::new(&page);
    scan_html(&html, &page, 0, &mut queue);
    assert_eq!((queue.drain().len(), queue.unlisted_count()), (MAX_OBJECTS, 20_000 - 500));

    let long = format!("<img src={}><img src=a.png>", "x".repeat(100_000));
    let mut queue = PageObjectQueue::new(&page);
    scan_html(&long, &page, 0, &mut queue);
    assert_eq!((render(&mut queue), queue.unlisted_count()), (vec!["image a.png".to_owned()], 1));
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let page = Url::parse(PAGE).unwrap();
    let (mut queue, url) = sheet(&page);
    for open in ["a{", "f(", "(", "[", "@media screen{", "@supports (x:y){", "url("] {
        let css = format!("{}url(a.png)", open.repeat(100_000));
        scan_css(&css, &url, &url.url, &mut queue);
    }
    scan_css(&format!("@media {}", "(".repeat(100_000)), &url, &url.url, &mut queue);
    let deep = "<iframe srcdoc='".repeat(10_000) + "<img src=a.png>";
    scan_html(&deep, &page, 0, &mut queue);
    scan_html(&"<template><noscript><svg><picture>".repeat(50_000), &page, 0, &mut queue);
    assert!(render(&mut queue).iter().all(|found| found.ends_with("a.png")));
}

#[test]
fn imports_beyond_the_depth_limit_are_counted() {
    let page = Url::parse(PAGE).unwrap();
    let (mut queue, mut found) = sheet(&page);
    let mut depth = 0;
    loop {
        scan_css(&format!("@import '{depth}.css';"), &found, &found.url.clone(), &mut queue);
        match queue.drain().pop() {
            Some(next) => found = next,
            None => break,
        }
        depth += 1;
    }
    assert_eq!((depth, queue.unlisted_count()), (4, 1));
}
