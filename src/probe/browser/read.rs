//! Acts that read the page: assertions, values for variables, keywords.

use std::time::Duration;

use tokio::time::Instant;

use super::acts::not_found;
use super::ask::{self, Found, Located, Of, Told};
use super::budget::Bound;
use super::naming;
use super::play::{Player, Stopped};
use crate::judge::keyword::{Keyword, KeywordRule, Matching};
use crate::judge::template::Place;
use crate::model::script::dialect::{Act, Check, Match, Pattern, State, Target};
use crate::model::{Failure, FailureKind, Phase};

/// How long an assertion is given to become true, where the act does not say: pages change in steps.
const GRACE: Duration = Duration::from_secs(2);
/// Characters of a text that a failure shows.
const SHOWN: usize = 200;

impl Player<'_> {
    pub(super) async fn assert(&self, what: &Check, must: &Match, act: &Act) -> Result<(), Stopped> {
        let limit = self.budget.until(Some(act.timeout.unwrap_or(GRACE)));
        let must = self.prepared(must)?;
        let found = match self.becomes(what, limit, |text| must.fits(text)).await? {
            Ok(_) => return Ok(()),
            Err(last) => last,
        };
        let seen = match found {
            Some(text) => format!("it is `{}`", cut(&text)),
            None => "there is none".to_owned(),
        };
        let detail = format!("{} must {}, and {seen}", described(what), must.words());
        Err(Failure::new(Phase::Play, FailureKind::AssertionFailed, detail).into())
    }

    pub(super) async fn assert_element(
        &self,
        target: &Target,
        state: State,
        act: &Act,
    ) -> Result<(), Stopped> {
        let (until, bound) = self.budget.until(Some(act.timeout.unwrap_or(GRACE)));
        let locators = self.located(target)?;
        let found = ask::element(&self.session, &locators, state, until).await;
        match found.map_err(|why| self.unanswered(why, bound))? {
            Found::Yes(_) => Ok(()),
            Found::Weak(count) if !matches!(state, State::Hidden | State::Absent) => {
                Err(not_found(&Found::Weak(count), target).into())
            }
            _ => {
                let detail = format!("{} must be {}", naming::target(target), word(state));
                Err(Failure::new(Phase::Play, FailureKind::AssertionFailed, detail).into())
            }
        }
    }

    pub(super) async fn extract(
        &mut self,
        into: &str,
        from: &Check,
        pattern: Option<&Pattern>,
        act: &Act,
    ) -> Result<(), Stopped> {
        let limit = self.budget.until(Some(act.timeout.unwrap_or(GRACE)));
        let value = |text: &str| match pattern {
            None => Some(text.to_owned()),
            Some(Pattern(regex)) => {
                let found = regex.captures(text)?;
                Some(found.get(1).or(found.get(0))?.as_str().to_owned())
            }
        };
        let text = self.becomes(from, limit, |text| value(text).is_some()).await?;
        match text.ok().and_then(|text| value(&text)) {
            Some(value) => {
                self.take(into, value);
                Ok(())
            }
            None => {
                let detail = format!("`{into}` cannot be taken from {}", described(from));
                Err(Failure::new(Phase::Play, FailureKind::VariableMissing, detail).into())
            }
        }
    }

    pub(super) async fn keyword(
        &self,
        text: &str,
        regex: bool,
        invert: bool,
        wait: bool,
        act: &Act,
    ) -> Result<(), Stopped> {
        let place = if regex { Place::Regex } else { Place::Value };
        let rule = KeywordRule {
            pattern: self.filled(text, place)?,
            matching: if regex { Matching::RegularExpression } else { Matching::PlainText },
            invert,
            match_case: true,
            whole_word: false,
            line_wrap: true,
            normalize_spaces: true,
        };
        let rule = rule.compile().map_err(|error| {
            Failure::new(
                Phase::Play,
                FailureKind::ScriptInvalid,
                format!("the keyword is no pattern: {error}"),
            )
        })?;
        let limit = if wait { self.budget.until(act.timeout) } else { (Instant::now(), Bound::Act) };
        self.keyword_holds(&rule, limit).await
    }

    /// The keyword of the monitor, judged on the last page: once, or until it is there.
    pub(super) async fn monitors_keyword(&self) -> Result<(), Failure> {
        let Some((rule, waits)) = &self.options.keyword else { return Ok(()) };
        let limit = if *waits { self.budget.until(None) } else { (Instant::now(), Bound::Act) };
        match self.keyword_holds(rule, limit).await {
            Ok(()) => Ok(()),
            Err(Stopped::Failed(failure)) => Err(failure),
            Err(Stopped::Dialog(text)) => Err(self.refused_dialog("the keyword", &text).await),
        }
    }

    /// Judges the source of the page, until it passes or the limit is there.
    pub(super) async fn keyword_holds(&self, rule: &Keyword, limit: (Instant, Bound)) -> Result<(), Stopped> {
        let mut failure = None;
        let passes = |text: &str| {
            failure = rule.judge(text);
            failure.is_none()
        };
        if self.told(&Of::Source, limit, passes).await?.is_ok() {
            return Ok(());
        }
        let none = || Failure::new(Phase::Validate, FailureKind::KeywordMissing, "the page has no source");
        Err(failure.unwrap_or_else(none).into())
    }

    /// What is looked at, once it `fits`; else the last of it, as far as there was any.
    pub(super) async fn becomes(
        &self,
        what: &Check,
        limit: (Instant, Bound),
        fits: impl FnMut(&str) -> bool,
    ) -> Result<Result<String, Option<String>>, Stopped> {
        let located = |target: &Target| -> Result<Located, Failure> { self.located(target) };
        let (locators, target) = match what {
            Check::Text(Some(target))
            | Check::Attribute(target, _)
            | Check::Value(target)
            | Check::Count(target) => (located(target)?, Some(target)),
            Check::Text(None) | Check::Url | Check::Title => (Vec::new(), None),
        };
        let of = match what {
            Check::Text(None) => Of::Page,
            Check::Text(Some(_)) => Of::Element(&locators),
            Check::Attribute(_, name) => Of::Attribute(&locators, name),
            Check::Value(_) => Of::Field(&locators),
            Check::Url => Of::Url,
            Check::Title => Of::Title,
            Check::Count(_) => Of::Count(&locators),
        };
        match self.told(&of, limit, fits).await? {
            Ok(text) => Ok(Ok(text)),
            Err(Missed { text: None, found: Some(found) }) => match target {
                Some(target) => Err(not_found(&found, target).into()),
                None => Ok(Err(None)),
            },
            Err(missed) => Ok(Err(missed.text)),
        }
    }

    /// Reads a text until it `fits`, each time that it is another one.
    pub(super) async fn told(
        &self,
        of: &Of<'_>,
        (until, bound): (Instant, Bound),
        mut fits: impl FnMut(&str) -> bool,
    ) -> Result<Result<String, Missed>, Stopped> {
        let (mut last, mut seen) = (None, None);
        loop {
            let told = ask::text(&self.session, of, last, until).await;
            match told.map_err(|why| self.unanswered(why, bound))? {
                Told::Text(text, _) if fits(&text) => return Ok(Ok(text)),
                Told::Text(text, number) => (last, seen) = (Some(number), Some(text)),
                Told::No(found) => return Ok(Err(Missed { text: seen, found: Some(found) })),
                Told::Same | Told::Lacking => return Ok(Err(Missed { text: seen, found: None })),
            }
            if Instant::now() >= until {
                return Ok(Err(Missed { text: seen, found: None }));
            }
        }
    }

    /// What must hold, with its texts filled in.
    pub(super) fn prepared(&self, must: &Match) -> Result<Must, Failure> {
        Ok(match must {
            Match::Equals(text) => Must::Equals(self.filled(text, Place::Value)?),
            Match::Contains(text) => Must::Contains(self.filled(text, Place::Value)?),
            Match::Matches(Pattern(regex)) => Must::Matches(regex.clone()),
            Match::Not(of) => Must::Not(Box::new(self.prepared(of)?)),
            Match::AtLeast(count) => Must::AtLeast(*count),
            Match::AtMost(count) => Must::AtMost(*count),
        })
    }
}

/// What was there when the time was over.
#[derive(Debug)]
pub(super) struct Missed {
    text: Option<String>,
    found: Option<Found>,
}

/// A [`Match`] with its texts filled in.
#[derive(Debug)]
pub(super) enum Must {
    Equals(String),
    Contains(String),
    Matches(regex::Regex),
    Not(Box<Self>),
    AtLeast(u64),
    AtMost(u64),
}

impl Must {
    pub(super) fn fits(&self, text: &str) -> bool {
        match self {
            Self::Equals(wanted) => spaces(wanted) == spaces(text),
            Self::Contains(wanted) => spaces(text).contains(&spaces(wanted)),
            Self::Matches(regex) => regex.is_match(text),
            Self::Not(of) => !of.fits(text),
            Self::AtLeast(least) => text.parse::<u64>().is_ok_and(|count| count >= *least),
            Self::AtMost(most) => text.parse::<u64>().is_ok_and(|count| count <= *most),
        }
    }

    pub(super) fn words(&self) -> String {
        match self {
            Self::Equals(wanted) => format!("be `{}`", cut(wanted)),
            Self::Contains(wanted) => format!("contain `{}`", cut(wanted)),
            Self::Matches(regex) => format!("match `{}`", cut(regex.as_str())),
            Self::Not(of) => format!("not {}", of.words()),
            Self::AtLeast(least) => format!("be at least {least}"),
            Self::AtMost(most) => format!("be at most {most}"),
        }
    }
}

/// Runs of white space as one space, as a reader sees them.
fn spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN).chain(['…']).collect()
}

fn described(what: &Check) -> String {
    match what {
        Check::Text(None) => "the text of the page".to_owned(),
        Check::Text(Some(target)) => format!("the text of {}", naming::target(target)),
        Check::Attribute(target, name) => format!("`{name}` of {}", naming::target(target)),
        Check::Value(target) => format!("the value of {}", naming::target(target)),
        Check::Url => "the address".to_owned(),
        Check::Title => "the title".to_owned(),
        Check::Count(target) => format!("the number of {}", naming::target(target)),
    }
}

pub(super) const fn word(state: State) -> &'static str {
    match state {
        State::Present => "present",
        State::Visible => "visible",
        State::Enabled => "enabled",
        State::Hidden => "hidden",
        State::Absent => "absent",
    }
}
