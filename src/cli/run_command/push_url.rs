//! The push URL of a monitor: where it comes from, and what is added to it.

use std::path::Path;

use anyhow::Context;
use url::Url;

use crate::cli::output::UsageError;
use crate::cli::password::read_password_file;
use crate::cli::process::non_empty_env_variable;

/// Variable with the push URL, which is not passed on to the command.
pub(super) const VARIABLE: &str = "VIGIE_PUSH_URL";
/// Parameters that a push sets, whatever the URL has.
const OWN_PARAMETERS: [&str; 4] = ["status", "exit_code", "ping", "msg"];

/// Reads the push URL: that of the option, of the file, of the variable.
pub(super) fn read_push_url(given: Option<&str>, file: Option<&Path>) -> anyhow::Result<Url> {
    let text = match (given, file) {
        (Some(text), _) => text.to_owned(),
        (None, Some(file)) if file == Path::new("-") => {
            let hint = "name a file: standard input is that of the command".to_owned();
            return Err(UsageError::with_hint("the push URL cannot be read from standard input", Some(hint)));
        }
        (None, Some(file)) => {
            read_password_file(file).context("the push URL cannot be read")?.trim().to_owned()
        }
        (None, None) => non_empty_env_variable(VARIABLE).ok_or_else(|| {
            let hint =
                "the console shows the push URL of a monitor: put it into a file for `--push-file FILE`";
            UsageError::with_hint("no push URL is named", Some(hint.to_owned()))
        })?,
    };
    parse_push_url(&text)
}

/// The message of a failure does not have the URL, which is a secret.
fn parse_push_url(text: &str) -> anyhow::Result<Url> {
    let url = Url::parse(text.trim()).ok();
    let is_usable = |url: &Url| {
        let has_login = !url.username().is_empty() || url.password().is_some();
        matches!(url.scheme(), "http" | "https") && url.has_host() && url.path().len() > 1 && !has_login
    };
    let hint = "it looks like `https://vigie.example.com/push/…`".to_owned();
    url.filter(is_usable)
        .ok_or_else(|| UsageError::with_hint("what is given is not the push URL of a monitor", Some(hint)))
}

/// Returns `url` with `parameters`, in place of such parameters that it has.
pub(super) fn with_parameters(url: &Url, parameters: &[(&str, String)]) -> Url {
    let kept: Vec<_> = url.query_pairs().filter(|(name, _)| !OWN_PARAMETERS.contains(&&**name)).collect();
    let mut result = url.clone();
    result.set_fragment(None);
    result.query_pairs_mut().clear().extend_pairs(kept).extend_pairs(parameters);
    result
}

/// Returns the parts of `url` that let somebody push: the last part of its path, and the values of its query.
pub(super) fn secret_parts(url: &Url) -> Vec<String> {
    let token = url.path_segments().and_then(|mut segments| segments.rfind(|segment| !segment.is_empty()));
    let values = url.query_pairs().filter(|(name, _)| !OWN_PARAMETERS.contains(&&**name));
    token.map(str::to_owned).into_iter().chain(values.map(|(_, value)| value.into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_a_push_replace_those_of_the_url() {
        let url = parse_push_url(" https://v.test/push/t0ken?status=up&msg=OK&ping=&site=a%20b#x\n").unwrap();
        let parameters = [("status", "down".to_owned()), ("msg", "exit code 1 & more".to_owned())];
        let pushed = with_parameters(&url, &parameters);
        let expected = "https://v.test/push/t0ken?site=a+b&status=down&msg=exit+code+1+%26+more";
        assert_eq!(pushed.as_str(), expected);
        assert_eq!(secret_parts(&url), ["t0ken", "a b"]);
    }

    #[test]
    fn other_texts_are_refused_and_not_shown() {
        for text in [
            "",
            "v.test/push/t0ken",
            "ftp://v.test/push/t0ken",
            "https://v.test/",
            "https://u:p@v.test/push/t0ken",
        ] {
            let error = parse_push_url(text).unwrap_err();
            assert!(error.is::<UsageError>() && !error.to_string().contains("t0ken"), "{text}: {error}");
        }
    }
}
