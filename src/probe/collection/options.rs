//! The fields of a collection monitor, parsed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use serde_json::Value;

use crate::collection::{
    Collection, UnsupportedItem, UploadedFile, VariableFile, parse_collection, parse_data_rows,
    parse_variable_file,
};
use crate::domain::{CustomerId, Failure, FailureKind, Phase};
use crate::net::{AddressFamily, TlsOptions};
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::invalid_probe::describe_invalid_setting;
use crate::protocol::http::client::ConnectOptions;
use crate::schema::MonitorDocument;
use crate::schema::typed::collection::CollectionSettings;

/// Longest list of what is not supported in a failure, in items.
const MAX_LISTED_ITEMS: usize = 20;

/// A turn of a script ends so much before the timeout, so that the script's own report is read.
pub(super) const TURN_RESERVE: Duration = Duration::from_millis(50);

/// The settings of a collection monitor.
pub(super) struct CollectionOptions {
    pub(super) collection: Collection,
    pub(super) environment: VariableFile,
    pub(super) globals: VariableFile,
    /// One row for each iteration; one empty row without data.
    pub(super) rows: Vec<Vec<(String, Value)>>,
    pub(super) files: Vec<UploadedFile>,
    pub(super) connect_options: ConnectOptions,
    /// The same without verification of certificates.
    pub(super) unverified_options: ConnectOptions,
    pub(super) user_agent: HeaderValue,
    pub(super) max_body_bytes: u64,
    /// The program that runs scripts.
    pub(super) script_program: Arc<Path>,
    /// The account, whose scripts share processes with each other alone.
    pub(super) customer_id: CustomerId,
    /// Variables set before the first request, as with `vigie check --set`.
    pub(super) preset_variables: Vec<(String, Value)>,
}

impl CollectionOptions {
    /// Reads the fields of `document`.
    ///
    /// # Errors
    /// Fails with [`FailureKind::ProjectNotStarted`] when a file cannot be read, or holds what this build cannot run; the
    /// failure lists it.
    pub(super) fn from_document(
        document: &MonitorDocument,
        context: &ProbeBuildContext,
    ) -> Result<Self, Failure> {
        let internal = |detail: String| Failure::new(Phase::Prepare, FailureKind::Internal, detail);
        let user_agent = HeaderValue::from_str(&context.user_agent)
            .map_err(|_| internal("`user_agent` cannot be used: it is not a header value".to_owned()))?;
        let settings: CollectionSettings<'_> =
            document.deserialize().map_err(|error| internal(describe_invalid_setting(&error)))?;
        let in_field =
            |field: &str, reason: &dyn std::fmt::Display| not_started(format!("`{field}` {reason}"));
        let collection = parse_collection(settings.script).map_err(|error| in_field("script", &error))?;
        if !collection.unsupported.is_empty() {
            return Err(not_started(list_items(&collection.unsupported)));
        }
        if collection.requests.is_empty() {
            return Err(in_field("script", &"has no request"));
        }
        let variables = |field: &str, text: Option<&str>| match text.filter(|text| !text.trim().is_empty()) {
            Some(text) => parse_variable_file(text).map_err(|error| in_field(field, &error)),
            None => Ok(VariableFile::default()),
        };
        let mut rows =
            parse_data_rows(settings.data.unwrap_or_default()).map_err(|reason| in_field("data", &reason))?;
        if rows.is_empty() {
            rows.push(Vec::new());
        }
        let files = settings.files.iter().map(|file| {
            let content = STANDARD
                .decode(file.base64.split_ascii_whitespace().collect::<String>())
                .map_err(|_| in_field("files", &format!("`{}` is not Base64", file.name)))?;
            Ok(UploadedFile { name: file.name.to_owned(), content })
        });
        let connect_options = ConnectOptions {
            address_family: AddressFamily::Any,
            pinned_host: None,
            proxy_id: None,
            tls_options: TlsOptions::default(),
        };
        let unverified = TlsOptions { verify_certificate: false, ..TlsOptions::default() };
        Ok(Self {
            environment: variables("environment", settings.environment)?,
            globals: variables("globals", settings.globals)?,
            rows,
            files: files.collect::<Result<_, Failure>>()?,
            unverified_options: ConnectOptions { tls_options: unverified, ..connect_options.clone() },
            connect_options,
            user_agent,
            max_body_bytes: context.max_body_bytes,
            script_program: Arc::clone(&context.script_program),
            customer_id: context.customer_id,
            preset_variables: context
                .preset_variables
                .iter()
                .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
                .collect(),
            collection,
        })
    }

    /// The values that no result may show.
    pub(super) fn secrets(&self) -> impl Iterator<Item = String> + '_ {
        let files = [&self.environment, &self.globals];
        let of_files = files.into_iter().flat_map(|file| file.secret_values.iter());
        of_files.chain(&self.collection.secret_values).cloned()
    }
}

fn not_started(detail: String) -> Failure {
    Failure::new(Phase::Prepare, FailureKind::ProjectNotStarted, detail)
}

fn list_items(items: &[UnsupportedItem]) -> String {
    let mut lines: Vec<String> = items.iter().take(MAX_LISTED_ITEMS).map(ToString::to_string).collect();
    if items.len() > MAX_LISTED_ITEMS {
        lines.push(format!("and {} more", items.len() - MAX_LISTED_ITEMS));
    }
    lines.join("; ")
}
