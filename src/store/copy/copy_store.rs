//! Copies all tables and compares both sides.

use super::checksum::TableChecksum;
use super::contract::{CopySource, CopyTarget, PageLimit, TableProgress};
use super::logical_table::LogicalTable;
use super::tables::TABLES;
use crate::store::maintenance::MaintenanceError;

/// What a copy does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyPhase {
    /// It copies rows.
    Copying,
    /// It reads both sides and compares them.
    Verifying,
}

/// How far a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyProgress {
    /// What it does.
    pub phase: CopyPhase,
    /// The table.
    pub table: &'static str,
    /// Rows of the table that are done, of both sides while verifying.
    pub done: u64,
    /// Rows of the table.
    pub total: u64,
}

/// A finished copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopySummary {
    /// Rows of each table.
    pub row_counts: Vec<(&'static str, u64)>,
    /// Rows that an interrupted copy had copied before.
    pub resumed_rows: u64,
}

impl CopySummary {
    /// Returns the number of all rows.
    #[must_use]
    pub fn total_rows(&self) -> u64 {
        self.row_counts.iter().map(|(_, count)| count).sum()
    }
}

/// Copies all tables from `source` to `target`, page by page, and compares them; continues an interrupted copy unless
/// `restarts`.
///
/// # Errors
/// [`MaintenanceError::Refused`] when the target contains data, or when a table differs in the end.
pub async fn copy_store(
    source: &mut dyn CopySource,
    target: &mut dyn CopyTarget,
    restarts: bool,
    limit: PageLimit,
    on_progress: &mut (dyn FnMut(CopyProgress) + Send),
) -> Result<CopySummary, MaintenanceError> {
    let stored = target.begin(source.describe().to_owned(), restarts).await?;
    let mut summary = CopySummary::default();
    for table in TABLES {
        let progress = stored.iter().find(|progress| progress.table == table.name).cloned();
        let progress = progress.unwrap_or_else(|| TableProgress::none(table.name));
        summary.resumed_rows += progress.row_count;
        copy_table(source, target, table, progress, limit, on_progress).await?;
    }
    for table in TABLES {
        let row_count = verify_table(source, target, table, limit, on_progress).await?;
        summary.row_counts.push((table.name, row_count));
    }
    target.finish(source.last_ids().await?).await?;
    Ok(summary)
}

async fn copy_table(
    source: &mut dyn CopySource,
    target: &mut dyn CopyTarget,
    table: &'static LogicalTable,
    mut progress: TableProgress,
    limit: PageLimit,
    on_progress: &mut (dyn FnMut(CopyProgress) + Send),
) -> Result<(), MaintenanceError> {
    if progress.is_complete {
        return Ok(());
    }
    let total = source.row_count(table).await?;
    loop {
        let rows = source.read_page(table, progress.last_key.clone(), limit).await?;
        match rows.last() {
            Some(last) => progress.last_key = Some(table.key_of(last)),
            None => progress.is_complete = true,
        }
        progress.row_count += rows.len() as u64;
        target.write_page(table, rows, progress.clone()).await?;
        let done = progress.row_count;
        on_progress(CopyProgress { phase: CopyPhase::Copying, table: table.name, done, total });
        if progress.is_complete {
            return Ok(());
        }
    }
}

/// Compares a table; returns its number of rows.
async fn verify_table(
    source: &mut dyn CopySource,
    target: &mut dyn CopyTarget,
    table: &'static LogicalTable,
    limit: PageLimit,
    on_progress: &mut (dyn FnMut(CopyProgress) + Send),
) -> Result<u64, MaintenanceError> {
    let total = source.row_count(table).await?;
    let mut report = |done: u64| {
        on_progress(CopyProgress { phase: CopyPhase::Verifying, table: table.name, done, total: 2 * total });
    };
    let original = checksum_table(source, table, limit, &mut report).await?;
    let copy = checksum_table(target, table, limit, &mut |done| report(original.row_count + done)).await?;
    if original == copy {
        return Ok(copy.row_count);
    }
    Err(MaintenanceError::Refused(format!(
        "the copy of `{}` differs: {} rows there, {} here; `{}` was changed after an interrupted copy\n\
         hint: `--restart` removes the copy and begins again",
        table.name,
        original.row_count,
        copy.row_count,
        source.describe()
    )))
}

async fn checksum_table<S: CopySource + ?Sized>(
    store: &mut S,
    table: &'static LogicalTable,
    limit: PageLimit,
    report: &mut (dyn FnMut(u64) + Send),
) -> Result<TableChecksum, MaintenanceError> {
    let (mut checksum, mut last_key) = (TableChecksum::default(), None);
    loop {
        let rows = store.read_page(table, last_key, limit).await?;
        let Some(last) = rows.last() else { return Ok(checksum) };
        last_key = Some(table.key_of(last));
        for row in &rows {
            checksum.add(row);
        }
        report(checksum.row_count);
    }
}
