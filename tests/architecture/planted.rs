//! Small crates with import cycles in every form that Rust has, all of which must be found.

use super::imports::Edge;
use super::modules::{Files, Modules};

/// Reads a crate with these files below `src/`; its `lib.rs` declares the top-level ones.
fn planted(files: &[(&str, &str)]) -> Modules {
    let mut all = Files::new();
    let mut lib = Vec::new();
    for (path, text) in files {
        all.insert(format!("src/{path}"), (*text).to_owned());
        let top = path.trim_end_matches("/mod.rs").trim_end_matches(".rs");
        if !top.contains('/') {
            lib.push(format!("pub mod {top};"));
        }
    }
    all.insert("src/lib.rs".to_owned(), lib.join("\n"));
    let modules = Modules::read(&all);
    assert!(modules.missing.is_empty(), "{:?}", modules.missing);
    modules
}

/// `b` imports `a`; each of these texts of `a` closes the cycle.
#[test]
fn a_cycle_is_found_in_every_form() {
    for text in [
        "use crate::b::B;",
        "use crate::{b::B};",
        "use crate::b;",
        "use crate::b::{self as other, B};",
        "use crate::b::B as Renamed;",
        "use crate::b::*;",
        "use super::b::B;",
        "use self::super::b::B;",
        "pub use crate::b::B;",
        "fn f() { let _ = crate::b::B; }",
        "fn f() { use crate::b::B; }",
        "fn f() -> super::b::B { loop {} }",
        "type T = Vec<Option<crate::b::B>>;",
        "impl crate::b::Trait for A {}",
        "impl<T: crate::b::Trait> A {}",
        "fn f() { <A as crate::b::Trait>::g() }",
        "fn f() { println!(\"{:?}\", crate::b::B); }",
        "fn f() { assert!(matches!(x, super::b::B { .. })); }",
        "fn f() { tokio::select! { x = crate::b::f() => {} } }",
        "macro_rules! m { () => { $crate::b::B } }",
        "#[derive(Serialize)] struct S { #[serde(with = \"crate::b\")] x: u8 }",
        "#[derive(Serialize)] struct S { #[serde(serialize_with = \"super::b::write\")] x: u8 }",
        "#[crate::b::attribute] fn f() {}",
        "mod inner { use super::super::b::B; }",
        "mod inner { fn f() { crate::b::f() } }",
    ] {
        let a = format!("pub struct A;\n{text}");
        let b = "use crate::a::A; pub struct B; pub trait Trait {}";
        assert!(!planted(&[("a.rs", &a), ("b.rs", b)]).cycles().is_empty(), "not found: {text}");
    }
}

#[test]
fn a_cycle_is_found_through_folders_and_re_exports() {
    for files in [
        // Between a child and the logic of its parent.
        &[
            ("net/mod.rs", "mod dial; fn f() { dial::dial() } pub struct Net;"),
            ("net/dial.rs", "use super::Net; pub fn dial() {}"),
        ] as &[(&str, &str)],
        // Between siblings, through re-exports of their parent.
        &[
            ("net/mod.rs", "mod one; mod two; pub use one::One; pub use two::Two;"),
            ("net/one.rs", "use super::Two; pub struct One;"),
            ("net/two.rs", "use super::One; pub struct Two;"),
        ],
        // Through a re-export that a third module renames.
        &[
            ("net/mod.rs", "mod one; pub use one::One as First;"),
            ("net/one.rs", "use crate::user::User; pub struct One;"),
            ("front.rs", "pub use crate::net::First as Face;"),
            ("user.rs", "use crate::front::Face; pub struct User;"),
        ],
        // Through `*` of a parent with re-exports.
        &[
            ("net/mod.rs", "mod one; mod two; pub use one::One; pub use two::Two;"),
            ("net/one.rs", "use super::*; pub struct One;"),
            ("net/two.rs", "use super::one::One; pub struct Two;"),
        ],
        // Three files.
        &[
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "use crate::c::C; pub struct B;"),
            ("c.rs", "use crate::a::A; pub struct C;"),
        ],
        // In a file that only a `#[path]` names.
        &[
            ("a.rs", "#[path = \"hidden/inner.rs\"] pub mod inner; pub struct A;"),
            ("hidden/inner.rs", "use crate::b::B; pub struct X;"),
            ("b.rs", "use crate::a::inner::X; pub struct B;"),
        ],
        // In a file of the folder beside the module.
        &[("a.rs", "pub mod deep; use deep::D; pub struct A;"), ("a/deep.rs", "use super::A; pub struct D;")],
    ] {
        assert!(!planted(files).cycles().is_empty(), "not found: {files:?}");
    }
}

#[test]
fn no_cycle_is_reported_where_there_is_none() {
    for files in [
        // Tests may import back.
        &[
            ("a.rs", "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }"),
            ("b.rs", "use crate::a::A; pub struct B;"),
        ] as &[(&str, &str)],
        &[
            ("a.rs", "pub struct A; #[cfg(test)] fn f() { crate::b::f() }"),
            ("b.rs", "use crate::a::A; pub struct B;"),
        ],
        // A parent declares and re-exports; children import the defining modules.
        &[
            ("net/mod.rs", "mod one; mod two; pub use one::One; pub use two::Two;"),
            ("net/one.rs", "pub struct One;"),
            ("net/two.rs", "use super::One; pub struct Two;"),
        ],
        // Neither comments nor documentation nor visibilities are imports.
        &[
            ("a.rs", "//! As [`crate::b::B`].\n/// See [`crate::b::B`].\npub struct A; // crate::b::B"),
            ("b.rs", "use crate::a::A; pub struct B;"),
        ],
        &[("net/mod.rs", "mod one; pub use one::One;"), ("net/one.rs", "pub(in crate::net) struct One;")],
        // Other crates may have the name of a module.
        &[
            ("a.rs", "use ::b::B; pub struct A; fn f() { ::b::f() }"),
            ("b.rs", "use crate::a::A; pub struct B;"),
        ],
    ] {
        let cycles = planted(files).cycles();
        assert!(cycles.is_empty(), "{files:?}: {cycles:?}");
    }
}

#[test]
fn imports_are_resolved_to_the_defining_module() {
    let modules = planted(&[
        ("store/mod.rs", "mod page; pub use page::Page;"),
        ("store/page.rs", "pub struct Page;"),
        ("service/mod.rs", "pub mod views; pub use crate::store::Page as Shown;"),
        ("service/views.rs", "pub use super::Shown;"),
        (
            "api.rs",
            "use crate::service::views::Shown; fn f() { format!(\"{}\", crate::service::Shown::new()); }",
        ),
    ]);
    let edges = modules.edges();
    let of_api: Vec<&Edge> = edges.iter().filter(|edge| edge.from == ["api"]).collect();
    assert_eq!(of_api.len(), 2, "{of_api:?}");
    for edge in of_api {
        assert_eq!(edge.target.module, ["store", "page"], "{edge:?}");
        assert!(edge.target.through.is_some(), "{edge:?}");
    }
}
