//! Values that a field refuses: just below and above the limits, a character too many, an unknown choice, another type,
//! another form.

use serde_json::{Map, Value, json};
use vigie::domain::MonitorType as T;
use vigie::schema::field::{Access, Field, FieldType, LegacyEncoding};
use vigie::schema::table::FieldTable;
use vigie::syntax::text_format::TextFormat;

use crate::api_fields::sub_objects::{COMPARISONS, PAIRS, minimal_object, settable_fields};
use crate::api_fields::valid_values::{MAX_SHORT_TEXT, long, of_length};
use crate::api_fields::world::World;
use crate::model::support::{sample, texts};

/// One value that is refused.
#[derive(Clone, Debug)]
pub struct InvalidValue {
    pub value: Value,
    /// The path that messages of version 3 name, after the name of the field.
    pub path: String,
    pub in_v3: bool,
    pub in_legacy: bool,
    /// Whether it counts as missing: legacy status 64.
    pub missing: bool,
}

impl InvalidValue {
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

/// Returns the values that `field` refuses.
pub fn for_field(world: &World, field: &'static Field) -> Vec<InvalidValue> {
    let mut invalid = values(field, &field.field_type);
    if field.required {
        invalid.push(InvalidValue::missing(Value::Null));
    }
    invalid.extend(account_values(world, field));
    for invalid in &mut invalid {
        match (field.access, field.legacy) {
            (Access::ReadOnlyInV3, _) => invalid.in_v3 = false,
            (_, LegacyEncoding::Omitted) => invalid.in_legacy = false,
            _ => {}
        }
    }
    invalid
}

fn values(field: &'static Field, kind: &FieldType) -> Vec<InvalidValue> {
    let (text, flag, list, map) = (json!("x"), json!(true), json!([]), json!({"a": 1}));
    match *kind {
        FieldType::Bool => {
            [json!("yes"), json!("true"), json!(1), json!("1"), list, map].map(InvalidValue::both).to_vec()
        }
        FieldType::Int { min, max } => {
            let mut invalid =
                [text, flag, list, map, json!(1.5), json!(1e19)].map(InvalidValue::both).to_vec();
            for number in [min.checked_sub(1), max.checked_add(1)].into_iter().flatten() {
                invalid.extend([
                    InvalidValue::both(json!(number)),
                    InvalidValue::both(json!(number.to_string())),
                ]);
            }
            invalid.extend([InvalidValue::v3(json!(min.to_string())), InvalidValue::legacy(json!("1.5"))]);
            invalid
        }
        FieldType::IntEnum(choices) => {
            let (smallest, largest) = (choices.iter().min().unwrap(), choices.iter().max().unwrap());
            let others = (*smallest - 1..=largest + 1).filter(|number| !choices.contains(number)).take(4);
            let others = others.chain([largest + 1]).map(|number| InvalidValue::both(json!(number)));
            let wrong =
                [text, flag, list, map, json!(1.5), json!((largest + 1).to_string())].map(InvalidValue::both);
            others.chain(wrong).chain([InvalidValue::v3(json!(smallest.to_string()))]).collect()
        }
        FieldType::Float { .. } => [text, flag, list, map].map(InvalidValue::both).to_vec(),
        FieldType::Text { min, max, format } => {
            let mut invalid = [flag, list].map(InvalidValue::both).to_vec();
            // A schema may be an object.
            invalid.extend((format != TextFormat::JsonSchema).then(|| InvalidValue::both(map)));
            invalid.push(InvalidValue::v3(json!(5)));
            if max <= MAX_SHORT_TEXT {
                let over = of_length(format, max + 1).unwrap_or_else(|| "1".repeat(max + 1));
                invalid.push(InvalidValue::both(json!(over)));
            }
            invalid.extend(texts(format).1.map(|text| InvalidValue::both(json!(text))));
            if min > 0 {
                invalid.push(if field.required {
                    InvalidValue::missing(json!(""))
                } else {
                    InvalidValue::both(json!(""))
                });
            }
            invalid
        }
        FieldType::TextEnum(choices) => {
            let mut invalid =
                [flag, list, map, json!("no such word"), json!(5)].map(InvalidValue::both).to_vec();
            let other = choices
                .iter()
                .map(|choice| choice.to_lowercase())
                .find(|choice| !choices.contains(&&**choice));
            let coded = matches!(field.legacy, LegacyEncoding::Coded(codes) if codes.iter().any(|(code, _)| {
                other.as_ref().is_some_and(|other| other.eq_ignore_ascii_case(code))
            }));
            invalid.extend(other.map(|choice| {
                if coded { InvalidValue::v3(json!(choice)) } else { InvalidValue::both(json!(choice)) }
            }));
            if !choices.contains(&"") {
                invalid.push(InvalidValue::v3(json!("")));
            }
            invalid
        }
        FieldType::List { item_type: of, min, max } => lists(field, of, min, max),
        FieldType::Object(table) => {
            let whole = minimal_object(table, 1);
            [text, list, flag]
                .map(InvalidValue::both)
                .into_iter()
                .chain(sub_objects(table, &whole, ""))
                .collect()
        }
        FieldType::Any => Vec::new(),
    }
}

fn lists(field: &'static Field, item_type: &'static FieldType, min: usize, max: usize) -> Vec<InvalidValue> {
    let mut invalid = [json!("x"), json!({}), json!(5), json!(true)].map(InvalidValue::both).to_vec();
    let full: Vec<Value> = (0..=max).map(|at| entry(item_type, at)).collect();
    invalid.push(InvalidValue::both(json!(full)));
    if min > 0 {
        invalid.push(InvalidValue::both(json!([])));
    }
    invalid.push(InvalidValue::both(json!([null])).at("[0]"));
    invalid.push(InvalidValue::both(json!([entry(item_type, 1), []])).at("[1]"));
    let inner = match item_type {
        FieldType::Object(table) => sub_objects(table, &minimal_object(table, 1), "[0]"),
        item_type => {
            // An empty entry of a list counts as missing.
            let inner = values(field, item_type).into_iter().filter(|invalid| invalid.value != "");
            inner
                .map(|invalid| {
                    let path = format!("[0]{}", invalid.path);
                    invalid.at(&path)
                })
                .collect()
        }
    };
    invalid
        .extend(inner.into_iter().map(|invalid| InvalidValue { value: json!([invalid.value]), ..invalid }));
    invalid
}

fn entry(of: &'static FieldType, at: usize) -> Value {
    match of {
        FieldType::Object(table) => minimal_object(table, at),
        of => sample(of),
    }
}

/// Returns copies of `whole` with an invalid value in each of its fields.
fn sub_objects(table: &'static FieldTable, whole: &Value, path: &str) -> Vec<InvalidValue> {
    let mut all = vec![
        InvalidValue::v3(replaced(whole, "no_such_field", json!(1))).at(&format!("{path}.no_such_field")),
    ];
    for field in settable_fields(table) {
        let inner = format!("{path}.{}", field.name);
        for invalid in values(field, &field.field_type) {
            let path = format!("{inner}{}", invalid.path);
            all.push(InvalidValue {
                value: replaced(whole, field.name, invalid.value.clone()),
                path,
                ..invalid
            });
        }
        if field.required {
            all.push(InvalidValue::missing(replaced(whole, field.name, Value::Null)).at(&inner));
            let mut without = whole.clone();
            without.as_object_mut().unwrap().shift_remove(field.name);
            all.push(InvalidValue::missing(without).at(&inner));
        }
    }
    all
}

fn replaced(whole: &Value, name: &str, value: Value) -> Value {
    let mut object: Map<String, Value> = whole.as_object().unwrap().clone();
    object.insert(name.to_owned(), value);
    Value::Object(object)
}

/// Returns values that reference objects the account does not have, and values in conflict with each other.
fn account_values(world: &World, field: &Field) -> Vec<InvalidValue> {
    let at = |value: Value, path: &str| InvalidValue::both(value).at(path);
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
        "home_location" if !world.is_mobile() => {
            vec![InvalidValue::both(json!(2)), InvalidValue::both(json!(i64::MAX))]
        }
        "monitor_location_count" => vec![InvalidValue::v3(json!(1)), InvalidValue::both(json!(2))],
        "custom_properties" => vec![
            at(json!([{"id": id + 100, "value_id": 1}]), "[0].id"),
            at(json!([{"id": id, "value_id": 99}]), "[0].value_id"),
            at(json!([{"id": id, "value_id": values[0].0}, {"id": id, "value_id": values[1].0}]), "[1].id"),
        ],
        "ssl_cert_id" => vec![InvalidValue::both(json!(world.authority)), InvalidValue::both(json!(1))],
        "ca_cert_id" => vec![InvalidValue::both(json!(world.client)), InvalidValue::both(json!(1))],
        "depends_on" => vec![
            at(json!([i64::MAX]), "[0]"),
            at(json!([world.parents[0], world.parents[1], world.parents[0]]), "[2]"),
        ],
        "proxy_id" => vec![InvalidValue::both(json!(1)), InvalidValue::both(json!(i64::MAX))],
        "url" if world.kind == T::Website => vec![InvalidValue::both(json!("https://a/"))],
        "url" if world.kind == T::WebsiteSsl => vec![InvalidValue::both(json!("http://a/"))],
        "script" if world.kind == T::Selenium => {
            vec![InvalidValue::both(json!("aGk=")), InvalidValue::both(json!("UEsD"))]
        }
        "post_body" => vec![InvalidValue::both(json!("with GET"))],
        "api_steps" => {
            let mut invalid = vec![
                InvalidValue { missing: true, ..steps(json!({"http_method": "CUSTOM"}), ".custom_method") },
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
                    invalid.push(steps(json!({"assertions": [pair]}), ".assertions[0].comparison"));
                }
            }
            let variable = json!({"name": "v", "property": "$.a"});
            invalid.push(steps(json!({"variables": [variable, variable]}), ".variables[1].name"));
            invalid
        }
        "keyword_string" => vec![InvalidValue::both(json!(long(256)))],
        _ => Vec::new(),
    }
}

/// Returns fields of the legacy API only, with values that they refuse.
pub fn legacy_codes(field: &Field) -> Vec<(&'static str, Value)> {
    match field.legacy {
        LegacyEncoding::Indexed { index_field: name, .. } => {
            [json!(6), json!(-1), json!("6"), json!("x"), json!([])].map(|value| (name, value)).to_vec()
        }
        LegacyEncoding::EnabledDisabled => vec![(field.name, json!("Sometimes"))],
        _ => Vec::new(),
    }
}
