//! What is known while the commands of a test are converted.

use std::collections::{BTreeMap, BTreeSet};

use super::super::dialect::{DialogAnswer, Step, Variable};
use super::imported::Loss;
use super::project::{Command, Project, Test};

/// A window of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window {
    Main,
    /// The nth that was opened, from 1.
    Opened(u32),
    /// One that was chosen in another way.
    Other,
}

/// What is known while commands are carried over.
pub(super) struct Carrier<'p> {
    pub(super) project: &'p Project,
    pub(super) steps: Vec<Step>,
    pub(super) acts: usize,
    pub(super) losses: Vec<Loss>,
    pub(super) notes: Vec<String>,
    pub(super) variables: Vec<Variable>,
    /// Variables that acts fill, and those that are declared.
    pub(super) known: BTreeSet<String>,
    pub(super) windows: BTreeMap<String, Window>,
    pub(super) opened: u32,
    pub(super) window: Window,
    /// What the next act's dialog is answered with.
    pub(super) pending: Option<DialogAnswer>,
    /// Blocks of control flow that are open.
    pub(super) blocks: usize,
    pub(super) running: Vec<usize>,
}

/// A command and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Spot<'p> {
    pub(super) test: &'p Test,
    /// From 0.
    pub(super) index: usize,
    pub(super) command: &'p Command,
}

impl<'p> Spot<'p> {
    /// The commands behind it.
    pub(super) fn rest(self) -> &'p [Command] {
        self.test.commands.get(self.index + 1..).unwrap_or_default()
    }
}
