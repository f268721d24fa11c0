//! The network of the first location, and whom checks trust.

use std::collections::BTreeMap;

use serde_json::Value;

use super::certificates::named_certificates;
use super::hosted::{proxy, way_out};
use super::reader::Reader;
use crate::net::{NetConfig, Pem, Proxy, Roots, Trust};

pub(super) fn first_proxy(reader: &mut Reader<'_>) -> Option<Proxy> {
    let of = |name: &&str| ((*name).to_owned(), reader.node(&format!("location.{name}")).clone());
    let known: BTreeMap<_, _> = ["proxy", "proxy_username", "proxy_password_file"].iter().map(of).collect();
    proxy(reader, "location", |name| known.get(name).cloned())
}

pub(super) fn net(reader: &mut Reader<'_>) -> NetConfig {
    let way = way_out(|name| reader.node(&format!("location.{name}")));
    NetConfig { trust: trust(reader), ..way }
}

fn trust(reader: &mut Reader<'_>) -> Trust {
    let system = reader.node("tls.system_roots").to_json() == Value::Bool(true);
    let mut trust = Trust { roots: if system { Roots::System } else { Roots::None }, ..Trust::default() };
    for (at, item) in reader.node("tls.ca_files").clone().items().iter().enumerate() {
        let path = format!("tls.ca_files[{at}]");
        trust.authorities.extend(reader.pem(&path, item, Pem::check_certificates));
    }
    named_certificates(reader, &mut trust);
    trust
}
