//! The state of converting a test.

use std::collections::{BTreeMap, BTreeSet};

use super::super::language::{DialogResponse, ScriptStep, ScriptVariable};
use super::import_report::ImportIssue;
use super::project::{SeleniumIdeCommand, SeleniumIdeProject, SeleniumIdeTest};

/// A window of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowRef {
    Main,
    /// The window opened as number n, from 1.
    Opened(u32),
    /// A window whose number is not known, for example one that is selected by its title.
    Unknown,
}

/// The state of converting a test.
pub(super) struct Converter<'p> {
    pub(super) project: &'p SeleniumIdeProject,
    pub(super) steps: Vec<ScriptStep>,
    pub(super) action_count: usize,
    pub(super) issues: Vec<ImportIssue>,
    pub(super) notes: Vec<String>,
    /// Protected variables for typed passwords; they are declared in the script.
    pub(super) variables: Vec<ScriptVariable>,
    /// Variables that are declared or set by actions.
    pub(super) known_variables: BTreeSet<String>,
    /// Windows by the name of the variable that holds their handle.
    pub(super) windows_by_handle: BTreeMap<String, WindowRef>,
    /// Number of windows that commands have opened so far.
    pub(super) opened_window_count: u32,
    pub(super) current_window: WindowRef,
    /// The response to the dialog that the next action opens.
    pub(super) pending_response: Option<DialogResponse>,
    /// Number of open control flow blocks.
    pub(super) open_block_count: usize,
    /// Indices of the tests being converted: the outermost first, then those that they run.
    pub(super) call_stack: Vec<usize>,
}

impl<'p> Converter<'p> {
    /// Creates the state in which a conversion starts.
    pub(super) fn new(project: &'p SeleniumIdeProject) -> Self {
        Self {
            project,
            steps: Vec::new(),
            action_count: 0,
            issues: Vec::new(),
            notes: Vec::new(),
            variables: Vec::new(),
            known_variables: BTreeSet::new(),
            windows_by_handle: BTreeMap::from([("root".to_owned(), WindowRef::Main)]),
            opened_window_count: 0,
            current_window: WindowRef::Main,
            pending_response: None,
            open_block_count: 0,
            call_stack: Vec::new(),
        }
    }
}

/// A command with its position.
#[derive(Clone, Copy)]
pub(super) struct CommandContext<'p> {
    pub(super) test: &'p SeleniumIdeTest,
    /// Its index, from 0.
    pub(super) index: usize,
    pub(super) command: &'p SeleniumIdeCommand,
}

impl<'p> CommandContext<'p> {
    /// Returns the commands after it.
    pub(super) fn following(self) -> &'p [SeleniumIdeCommand] {
        self.test.commands.get(self.index + 1..).unwrap_or_default()
    }
}
