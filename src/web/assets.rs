//! Style, scripts and pictures of the pages. Their address holds a hash of all of them, so that a browser keeps each for
//! as long as it likes and asks again after an upgrade. Scripts import each other by relative paths within it.

use std::sync::LazyLock;

use aws_lc_rs::digest;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::domain::to_hex;

/// Digits of the hash in addresses.
const HASH_DIGITS: usize = 16;
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// A file of the pages.
struct Asset {
    name: &'static str,
    content_type: &'static str,
    content: &'static str,
}

/// Every file. Those of others stand in `vendor/`, with their licences and checksums.
const ASSETS: [Asset; 18] = [
    Asset {
        name: "style.css",
        content_type: "text/css; charset=utf-8",
        content: include_str!("assets/style.css"),
    },
    Asset {
        name: "uplot.min.css",
        content_type: "text/css; charset=utf-8",
        content: include_str!("assets/vendor/uplot.min.css"),
    },
    Asset { name: "icon.svg", content_type: "image/svg+xml", content: include_str!("assets/icon.svg") },
    script("htmx.min.js", include_str!("assets/vendor/htmx.min.js")),
    script("hx-sse.min.js", include_str!("assets/vendor/hx-sse.min.js")),
    script("uplot.min.js", include_str!("assets/vendor/uplot.min.js")),
    script("main.js", include_str!("assets/scripts/main.js")),
    script("ages.js", include_str!("assets/scripts/ages.js")),
    script("charts.js", include_str!("assets/scripts/charts.js")),
    script("choices.js", include_str!("assets/scripts/choices.js")),
    script("form.js", include_str!("assets/scripts/form.js")),
    script("keys.js", include_str!("assets/scripts/keys.js")),
    script("live_state.js", include_str!("assets/scripts/live_state.js")),
    script("palette.js", include_str!("assets/scripts/palette.js")),
    script("retry.js", include_str!("assets/scripts/retry.js")),
    script("texts.js", include_str!("assets/scripts/texts.js")),
    script("units.js", include_str!("assets/scripts/units.js")),
    script("zoom.js", include_str!("assets/scripts/zoom.js")),
];

/// Hash of all files.
static HASH: LazyLock<String> = LazyLock::new(|| {
    let mut context = digest::Context::new(&digest::SHA256);
    for asset in &ASSETS {
        context.update(asset.name.as_bytes());
        context.update(&(asset.content.len() as u64).to_be_bytes());
        context.update(asset.content.as_bytes());
    }
    let mut hash = to_hex(context.finish().as_ref());
    hash.truncate(HASH_DIGITS);
    hash
});

const fn script(name: &'static str, content: &'static str) -> Asset {
    Asset { name, content_type: JAVASCRIPT, content }
}

/// Returns the address of the file `name`.
pub(super) fn asset_url(name: &str) -> String {
    format!("/assets/{}/{name}", *HASH)
}

/// `GET /assets/{hash}/{name}`: a file, which does not change under this address. An address of another version gets the
/// file of this one, once: its page was open while the server was upgraded.
pub(super) async fn get_asset(Path((hash, name)): Path<(String, String)>) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return (StatusCode::NOT_FOUND, "This file does not exist").into_response();
    };
    let cache_control = if hash == *HASH { "public, max-age=31536000, immutable" } else { "no-store" };
    ([(header::CONTENT_TYPE, asset.content_type), (header::CACHE_CONTROL, cache_control)], asset.content)
        .into_response()
}

/// Returns the response with the file `name` under an address that stays the same: browsers keep it for five minutes.
pub(super) fn unversioned_asset(name: &'static str) -> Response {
    match ASSETS.iter().find(|asset| asset.name == name) {
        Some(asset) => {
            let headers =
                [(header::CONTENT_TYPE, asset.content_type), (header::CACHE_CONTROL, "max-age=300")];
            (headers, asset.content).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendored_files_are_those_whose_checksums_stand_beside_them() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web/assets/vendor");
        let sums = std::fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
        let listed: Vec<(&str, &str)> = sums.lines().map(|line| line.split_once("  ").unwrap()).collect();
        for (sum, name) in &listed {
            let content = std::fs::read(folder.join(name)).unwrap();
            assert_eq!(to_hex(digest::digest(&digest::SHA256, &content).as_ref()), *sum, "{name}");
        }
        for file in std::fs::read_dir(&folder).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            assert!(
                name == "SHA256SUMS" || listed.iter().any(|(_, listed)| *listed == name),
                "{name} is not listed"
            );
        }
    }

    #[test]
    fn own_scripts_stay_within_their_bounds() {
        let lines = |asset: &Asset| asset.content.lines().count();
        let own = ASSETS
            .iter()
            .filter(|asset| asset.content_type == JAVASCRIPT && !asset.name.ends_with(".min.js"));
        assert!(own.clone().all(|asset| lines(asset) <= 300), "a script is longer than 300 lines");
        assert!(own.map(lines).sum::<usize>() <= 2_500, "the scripts are longer than 2,500 lines");
    }

    #[tokio::test]
    async fn an_address_of_another_version_is_not_kept() {
        let cached = |hash: &str, name: &str| {
            let response = get_asset(Path((hash.to_owned(), name.to_owned())));
            async move { response.await.headers().get(header::CACHE_CONTROL).cloned() }
        };
        assert_eq!(cached(&HASH, "style.css").await.unwrap(), "public, max-age=31536000, immutable");
        assert_eq!(cached("0", "style.css").await.unwrap(), "no-store");
        assert_eq!(get_asset(Path((HASH.clone(), "x.js".to_owned()))).await.status(), 404);
    }
}
