//! What is known while the commands of a test are converted.

use std::collections::{BTreeMap, BTreeSet};

use super::super::language::{DialogResponse, ScriptStep, ScriptVariable};
use super::import_report::ImportIssue;
use super::project::{SideCommand, SideProject, SideTest};

/// A window of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowRef {
    Main,
    /// The nth that was opened, from 1.
    Opened(u32),
    /// One that was chosen in another way.
    Other,
}

/// What is known while commands are carried over.
pub(super) struct Converter<'p> {
    pub(super) project: &'p SideProject,
    pub(super) steps: Vec<ScriptStep>,
    pub(super) action_count: usize,
    pub(super) issues: Vec<ImportIssue>,
    pub(super) notes: Vec<String>,
    pub(super) variables: Vec<ScriptVariable>,
    /// Variables that acts fill, and those that are declared.
    pub(super) known_variables: BTreeSet<String>,
    pub(super) windows: BTreeMap<String, WindowRef>,
    pub(super) opened_windows: u32,
    pub(super) window: WindowRef,
    /// What the next act's dialog is answered with.
    pub(super) pending_response: Option<DialogResponse>,
    /// Blocks of control flow that are open.
    pub(super) open_blocks: usize,
    pub(super) call_stack: Vec<usize>,
}

/// A command and where it stands.
#[derive(Clone, Copy)]
pub(super) struct CommandContext<'p> {
    pub(super) test: &'p SideTest,
    /// From 0.
    pub(super) index: usize,
    pub(super) command: &'p SideCommand,
}

impl<'p> CommandContext<'p> {
    /// The commands behind it.
    pub(super) fn following(self) -> &'p [SideCommand] {
        self.test.commands.get(self.index + 1..).unwrap_or_default()
    }
}
