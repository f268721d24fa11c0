//! Values that a field refuses: just below and above, a character too many, a word that is none, another type,
//! another form.

use serde_json::{Map, Value, json};
use vigie::domain::MonitorType as T;
use vigie::schema::field::{Access, Field, FieldType, LegacyEncoding};
use vigie::schema::table::FieldTable;

use crate::api_fields::good::{MUCH, long, of_length};
use crate::api_fields::parts::{COMPARISONS, PAIRS, open, short};
use crate::api_fields::world::World;
use crate::model::support::{sample, texts};

/// One value that is refused.
#[derive(Clone, Debug)]
pub struct Bad {
    pub value: Value,
    /// What messages of version 3 name, behind the name of the field.
    pub path: String,
    pub in_v3: bool,
    pub in_legacy: bool,
    /// Whether it counts as missing: legacy status 64.
    pub missing: bool,
}

impl Bad {
    fn both(value: Value) -> Self {
        Self { value, path: String::new(), in_v3: true, in_legacy: true, missing: false }
    }

    fn v3(value: Value) -> Self {
        Self { in_legacy: false, ..Self::both(value) }
    }

    fn legacy(value: Value) -> Self {
        Self { in_v3: false, ..Self::both(value) }
    }

    fn missing(value: Value) -> Self {
        Self { missing: true, ..Self::both(value) }
    }

    fn at(self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self }
    }
}

/// The values that `field` refuses.
pub fn of(world: &World, field: &'static Field) -> Vec<Bad> {
    let mut bad = values(field, &field.field_type);
    if field.required {
        bad.push(Bad::missing(Value::Null));
    }
    bad.extend(named(world, field));
    for bad in &mut bad {
        match (field.access, field.legacy) {
            (Access::ReadOnlyInV3, _) => bad.in_v3 = false,
            (_, LegacyEncoding::Hidden) => bad.in_legacy = false,
            _ => {}
        }
    }
    bad
}

fn values(field: &'static Field, kind: &FieldType) -> Vec<Bad> {
    let (text, flag, list, map) = (json!("x"), json!(true), json!([]), json!({"a": 1}));
    match *kind {
        FieldType::Bool => {
            [json!("yes"), json!("true"), json!(1), json!("1"), list, map].map(Bad::both).to_vec()
        }
        FieldType::Int { min, max } => {
            let mut bad = [text, flag, list, map, json!(1.5), json!(1e19)].map(Bad::both).to_vec();
            for number in [min.checked_sub(1), max.checked_add(1)].into_iter().flatten() {
                bad.extend([Bad::both(json!(number)), Bad::both(json!(number.to_string()))]);
            }
            bad.extend([Bad::v3(json!(min.to_string())), Bad::legacy(json!("1.5"))]);
            bad
        }
        FieldType::IntEnum(choices) => {
            let (least, most) = (choices.iter().min().unwrap(), choices.iter().max().unwrap());
            let others = (*least - 1..=most + 1).filter(|number| !choices.contains(number)).take(4);
            let others = others.chain([most + 1]).map(|number| Bad::both(json!(number)));
            let wrong = [text, flag, list, map, json!(1.5), json!((most + 1).to_string())].map(Bad::both);
            others.chain(wrong).chain([Bad::v3(json!(least.to_string()))]).collect()
        }
        FieldType::Float { .. } => [text, flag, list, map].map(Bad::both).to_vec(),
        FieldType::Text { min, max, format } => {
            let mut bad = [flag, list, map].map(Bad::both).to_vec();
            bad.push(Bad::v3(json!(5)));
            if max <= MUCH {
                let over = of_length(format, max + 1).unwrap_or_else(|| "1".repeat(max + 1));
                bad.push(Bad::both(json!(over)));
            }
            bad.extend(texts(format).1.map(|text| Bad::both(json!(text))));
            if min > 0 {
                bad.push(if field.required { Bad::missing(json!("")) } else { Bad::both(json!("")) });
            }
            bad
        }
        FieldType::TextEnum(choices) => {
            let mut bad = [flag, list, map, json!("no such word"), json!(5)].map(Bad::both).to_vec();
            let other =
                choices.iter().map(|word| word.to_lowercase()).find(|word| !choices.contains(&&**word));
            let coded = matches!(field.legacy, LegacyEncoding::Coded(codes) if codes.iter().any(|(code, _)| {
                other.as_ref().is_some_and(|other| other.eq_ignore_ascii_case(code))
            }));
            bad.extend(other.map(|word| if coded { Bad::v3(json!(word)) } else { Bad::both(json!(word)) }));
            if !choices.contains(&"") {
                bad.push(Bad::v3(json!("")));
            }
            bad
        }
        FieldType::List { items: of, min, max } => lists(field, of, min, max),
        FieldType::Object(table) => {
            let whole = short(table, 1);
            [text, list, flag].map(Bad::both).into_iter().chain(parts(table, &whole, "")).collect()
        }
        FieldType::Any => Vec::new(),
    }
}

fn lists(field: &'static Field, of: &'static FieldType, min: usize, max: usize) -> Vec<Bad> {
    let mut bad = [json!("x"), json!({}), json!(5), json!(true)].map(Bad::both).to_vec();
    let full: Vec<Value> = (0..=max).map(|at| entry(of, at)).collect();
    bad.push(Bad::both(json!(full)));
    if min > 0 {
        bad.push(Bad::both(json!([])));
    }
    bad.push(Bad::both(json!([null])).at("[0]"));
    bad.push(Bad::both(json!([entry(of, 1), []])).at("[1]"));
    let inner = match of {
        FieldType::Object(table) => parts(table, &short(table, 1), "[0]"),
        of => {
            // What is empty in a list is missing in it.
            let inner = values(field, of).into_iter().filter(|bad| bad.value != "");
            inner
                .map(|bad| {
                    let path = format!("[0]{}", bad.path);
                    bad.at(&path)
                })
                .collect()
        }
    };
    bad.extend(inner.into_iter().map(|bad| Bad { value: json!([bad.value]), ..bad }));
    bad
}

fn entry(of: &'static FieldType, at: usize) -> Value {
    match of {
        FieldType::Object(table) => short(table, at),
        of => sample(of),
    }
}

/// `whole` with a fault in each of its fields.
fn parts(table: &'static FieldTable, whole: &Value, path: &str) -> Vec<Bad> {
    let mut all = vec![Bad::v3(with(whole, "no_such_field", json!(1))).at(&format!("{path}.no_such_field"))];
    for field in open(table) {
        let inner = format!("{path}.{}", field.name);
        for bad in values(field, &field.field_type) {
            let path = format!("{inner}{}", bad.path);
            all.push(Bad { value: with(whole, field.name, bad.value.clone()), path, ..bad });
        }
        if field.required {
            all.push(Bad::missing(with(whole, field.name, Value::Null)).at(&inner));
            let mut without = whole.clone();
            without.as_object_mut().unwrap().shift_remove(field.name);
            all.push(Bad::missing(without).at(&inner));
        }
    }
    all
}

fn with(whole: &Value, name: &str, value: Value) -> Value {
    let mut object: Map<String, Value> = whole.as_object().unwrap().clone();
    object.insert(name.to_owned(), value);
    Value::Object(object)
}

/// What the account does not have, and what does not go together.
fn named(world: &World, field: &Field) -> Vec<Bad> {
    let at = |value: Value, path: &str| Bad::both(value).at(path);
    let steps = |more: Value, path: &str| {
        let mut step = json!({"url": "http://a", "step_name": "s"});
        step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        at(json!([step]), &format!("[0]{path}"))
    };
    let (id, _, values) = &world.properties[0];
    match field.name {
        "locations" if !world.is_mobile() => {
            vec![at(json!([{"id": 4}]), "[0].id"), at(json!([{"id": 1}, {"id": 2}, {"id": 1}]), "[2].id")]
        }
        "home_location" if !world.is_mobile() => vec![Bad::both(json!(2)), Bad::both(json!(i64::MAX))],
        "monitor_location_count" => vec![Bad::v3(json!(1)), Bad::both(json!(2))],
        "custom_properties" => vec![
            at(json!([{"id": id + 100, "value_id": 1}]), "[0].id"),
            at(json!([{"id": id, "value_id": 99}]), "[0].value_id"),
            at(json!([{"id": id, "value_id": values[0].0}, {"id": id, "value_id": values[1].0}]), "[1].id"),
        ],
        "ssl_cert_id" => vec![Bad::both(json!(world.authority)), Bad::both(json!(1))],
        "ca_cert_id" => vec![Bad::both(json!(world.client)), Bad::both(json!(1))],
        "proxy_id" => vec![Bad::both(json!(1)), Bad::both(json!(i64::MAX))],
        "url" if world.kind == T::Website => vec![Bad::both(json!("https://a/"))],
        "url" if world.kind == T::WebsiteSsl => vec![Bad::both(json!("http://a/"))],
        "script" if world.kind == T::Selenium => vec![Bad::both(json!("aGk=")), Bad::both(json!("UEsD"))],
        "post_body" => vec![Bad::both(json!("with GET"))],
        "api_steps" => {
            let mut bad = vec![
                Bad { missing: true, ..steps(json!({"http_method": "CUSTOM"}), ".custom_method") },
                steps(json!({"custom_method": "PURGE"}), ".custom_method"),
                at(
                    json!([{"url": "http://a", "step_name": "s", "step_number": 2}, {"url": "http://a", "step_name": "s", "step_number": 2}]),
                    "[1].step_number",
                ),
            ];
            for (source, allowed) in PAIRS {
                for comparison in COMPARISONS.iter().filter(|comparison| !allowed.contains(comparison)) {
                    let pair =
                        json!({"source": source, "comparison": comparison, "property": "a", "value": "1"});
                    bad.push(steps(json!({"assertions": [pair]}), ".assertions[0].comparison"));
                }
            }
            let variable = json!({"name": "v", "property": "$.a"});
            bad.push(steps(json!({"variables": [variable, variable]}), ".variables[1].name"));
            bad
        }
        "keyword_string" => vec![Bad::both(json!(long(256)))],
        _ => Vec::new(),
    }
}

/// Codes that the legacy API has by itself.
pub fn codes(field: &Field) -> Vec<(&'static str, Value)> {
    match field.legacy {
        LegacyEncoding::Indexed { name, .. } => {
            [json!(6), json!(-1), json!("6"), json!("x"), json!([])].map(|value| (name, value)).to_vec()
        }
        LegacyEncoding::EnabledDisabled => vec![(field.name, json!("Sometimes"))],
        _ => Vec::new(),
    }
}
