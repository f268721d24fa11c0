//! Reads everything that a server shows to a caller.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::daemon::process::Daemon;

/// Most objects of one list that are read one by one.
const MAX_OBJECTS: usize = 60;

/// A caller, by the headers that it sends.
pub struct Caller<'a> {
    pub name: String,
    pub server: &'a Daemon,
    pub headers: String,
}

/// What a caller was shown, by its path.
pub type Pages = Vec<(String, String)>;

impl Caller<'_> {
    fn get(&self, path: &str, pages: &mut Pages) -> String {
        let (_, body) = self.server.get_with_headers(path, &self.headers);
        pages.push((format!("{} GET {path}", self.name), body.clone()));
        body
    }

    /// Reads each path of the OpenAPI document that can be read.
    pub fn crawl_api(&self, pages: &mut Pages) {
        let (_, document) = self.server.get_with_headers("/api/v3/openapi.json", &self.headers);
        let document: Value = serde_json::from_str(&document).unwrap();
        for (path, methods) in document["paths"].as_object().unwrap() {
            if methods.get("get").is_some() {
                self.crawl_path("/api/v3", path, pages);
            }
        }
        self.get("/api/v3/export?format=yaml", pages);
        self.get("/api/v3/export?format=json", pages);
    }

    /// Reads `path`; each object that the list before a parameter holds, if it has parameters.
    fn crawl_path(&self, base: &str, path: &str, pages: &mut Pages) {
        let Some((before, rest)) = path.split_once("/{") else {
            self.get(&format!("{base}{path}"), pages);
            return;
        };
        let rest = rest.split_once('}').unwrap().1;
        let list_path = format!("{base}{before}");
        let list = match pages.iter().rfind(|(name, _)| *name == format!("{} GET {list_path}", self.name)) {
            Some((_, list)) => list.clone(),
            None => self.get(&list_path, pages),
        };
        for id in ids(&serde_json::from_str(&list).unwrap_or_default()).into_iter().take(MAX_OBJECTS) {
            self.crawl_path(&list_path, &format!("/{id}{rest}"), pages);
        }
    }

    /// Reads the captures of every result that was read.
    pub fn crawl_captures(&self, pages: &mut Pages) {
        let start = format!("{} GET /api/v3/results/", self.name);
        let results = pages.iter().filter(|(name, _)| name.starts_with(&start));
        let paths = results.flat_map(|(name, body)| {
            let path = name.rsplit(' ').next().unwrap().to_owned();
            let result: Value = serde_json::from_str(body).unwrap_or_default();
            let captures = result["captures"].as_array().cloned().unwrap_or_default();
            let names = captures.into_iter().map(|capture| capture["name"].as_str().unwrap().to_owned());
            names.map(move |name| format!("{path}/captures/{name}")).collect::<Vec<_>>()
        });
        for path in paths.collect::<Vec<_>>() {
            self.get(&path, pages);
        }
    }

    /// Reads the lists of the legacy API.
    pub fn crawl_legacy_api(&self, login: &str, password: &str, pages: &mut Pages) {
        let body = json!({"login": login, "password": password}).to_string();
        let headers = format!(
            "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
            body.len()
        );
        let response = self.server.send_raw("POST", "/legacy-api/login", &headers, &body);
        let response: Value = serde_json::from_str(&response.body).unwrap();
        let session = response["metadata"]["session"].as_str().unwrap();
        for list in ["devices", "locations"] {
            let path = format!("/legacy-api/{list}?login={login}&session={session}");
            let (status, body) = self.server.get_with_headers(&path, "");
            assert_eq!(status, 200, "{body}");
            pages.push((format!("{} GET /legacy-api/{list}", self.name), body));
        }
    }

    /// Opens the link of a shared result, which shows it to everybody.
    pub fn open_link(&self, path: &str, pages: &mut Pages) {
        let page = self.get(path, pages);
        assert!(page.contains("Shared by a link"), "{page}");
    }

    /// Reads the pages, and what their links lead to.
    pub fn crawl_pages(&self, pages: &mut Pages) {
        let (mut seen, mut open) = (BTreeSet::new(), vec!["/".to_owned(), "/metrics".to_owned()]);
        while let Some(path) = open.pop() {
            if !seen.insert(path.clone()) {
                continue;
            }
            let page = self.get(&path, pages);
            let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
            let inner = links.map(|link| link.split('#').next().unwrap().replace("&amp;", "&"));
            open.extend(inner.filter(|link| link.starts_with('/') && !link.starts_with("/manual")));
        }
    }
}

/// Returns the ids, and names of captures, of the objects in the list that `response` is.
fn ids(response: &Value) -> Vec<String> {
    let lists = response.as_object().into_iter().flat_map(|object| object.values()).chain([response]);
    let objects = lists.filter_map(Value::as_array).flatten();
    objects.filter_map(|object| id_text(&object["id"])).collect()
}

/// Returns an id, which is a number or a text.
pub fn id_text(id: &Value) -> Option<String> {
    id.as_str().map(str::to_owned).or_else(|| id.as_i64().map(|id| id.to_string()))
}
