//! The assignments of an agent on its disk, sealed: the last snapshot, and the changes after it. With them it starts and
//! checks without any network.

use std::collections::VecDeque;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::bus::contract::{AppliedPosition, AssignmentStorage};
use crate::sync::Mutex;
use crate::vault::Keyring;

/// Writes that wait for the disk; further ones hold up the assignments.
const QUEUE_CAPACITY: usize = 256;
/// Largest record that is read.
const MAX_RECORD_BYTES: usize = 2 * 1024 * 1024 * 1024;
/// What the records are sealed as.
const SEAL_CONTEXT: &str = "vigie/agent assignments";

/// What was stored.
#[derive(Debug, Default)]
pub struct StoredAssignments {
    /// Up to where it goes.
    pub position: AppliedPosition,
    /// The bytes of the snapshot; `None` without one.
    pub snapshot: Option<Vec<u8>>,
    /// The messages after it, in their order.
    pub messages: Vec<Vec<u8>>,
}

/// A record, before it is sealed.
#[derive(Serialize, Deserialize)]
struct Head {
    stream_id: String,
    revision: u64,
    /// Length of each message that follows.
    lengths: Vec<usize>,
}

/// A record: its head and its messages.
type Record = (Head, Vec<Vec<u8>>);

/// A write that waits.
enum PendingWrite {
    Replace(AppliedPosition, Vec<u8>),
    Restart(AppliedPosition, Vec<Vec<u8>>),
    Append(AppliedPosition, Vec<Vec<u8>>),
}

/// Writes the assignments off the runtime. Agents of one process share its threads.
pub struct AssignmentFiles {
    writer: Arc<Writer>,
    /// The stream of what was written last.
    stream_id: Mutex<String>,
}

/// The files, and what waits to be written to them.
struct Writer {
    /// Locked while writes are taken and done, so that they keep their order.
    files: Mutex<Files>,
    pending: Mutex<VecDeque<PendingWrite>>,
}

impl AssignmentFiles {
    /// Opens the files in `folder`, which is created if missing, and returns what they hold.
    ///
    /// # Errors
    /// Fails when the folder cannot be used. Damaged files are logged: the agent then starts without them.
    pub fn open(folder: PathBuf, keyring: Arc<Keyring>) -> io::Result<(Self, StoredAssignments)> {
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let files = Files { folder, keyring };
        let stored = files.read().unwrap_or_else(|error| {
            tracing::error!(error = %error, folder = %files.folder.display(), "the stored assignments cannot be read; the agent waits for the control plane");
            StoredAssignments::default()
        });
        let stream_id = Mutex::new(stored.position.stream_id.clone());
        let writer = Arc::new(Writer { files: Mutex::new(files), pending: Mutex::default() });
        Ok((Self { writer, stream_id }, stored))
    }

    fn send(&self, write: PendingWrite) {
        if self.writer.pending.lock().len() >= QUEUE_CAPACITY {
            self.writer.write_pending();
        }
        let mut pending = self.writer.pending.lock();
        pending.push_back(write);
        // Otherwise a task that was started before will take it.
        if pending.len() == 1 {
            let writer = Arc::clone(&self.writer);
            drop(tokio::task::spawn_blocking(move || writer.write_pending()));
        }
    }
}

impl Writer {
    /// Writes what waits; returns once all of it is written.
    fn write_pending(&self) {
        let files = self.files.lock();
        loop {
            let Some(write) = self.pending.lock().pop_front() else { return };
            files.write(write);
        }
    }
}

impl AssignmentStorage for AssignmentFiles {
    fn replace(&self, position: &AppliedPosition, snapshot: Vec<u8>) {
        self.stream_id.lock().clone_from(&position.stream_id);
        self.send(PendingWrite::Replace(position.clone(), snapshot));
    }

    fn restart(&self, position: &AppliedPosition, messages: Vec<Vec<u8>>) {
        self.stream_id.lock().clone_from(&position.stream_id);
        self.send(PendingWrite::Restart(position.clone(), messages));
    }

    fn append(&self, revision: u64, messages: Vec<Vec<u8>>) {
        let stream_id = self.stream_id.lock().clone();
        self.send(PendingWrite::Append(AppliedPosition { stream_id, revision }, messages));
    }
}

/// The files.
struct Files {
    folder: PathBuf,
    keyring: Arc<Keyring>,
}

impl Files {
    fn snapshot_path(&self) -> PathBuf {
        self.folder.join("snapshot")
    }

    fn changes_path(&self) -> PathBuf {
        self.folder.join("changes")
    }

    fn write(&self, write: PendingWrite) {
        let written = match write {
            PendingWrite::Replace(position, snapshot) => self.replace(&position, snapshot),
            PendingWrite::Restart(position, messages) => self.restart(&position, &messages),
            PendingWrite::Append(position, messages) => self.append(&position, &messages),
        };
        if let Err(error) = written {
            tracing::error!(error = %error, folder = %self.folder.display(), "assignments are not stored; after a restart without a network, the agent has older ones");
        }
    }

    /// Returns the record of `messages`: its length, 64 bits, little-endian, and the sealed bytes.
    fn record(&self, position: &AppliedPosition, messages: &[Vec<u8>]) -> io::Result<Vec<u8>> {
        let AppliedPosition { stream_id, revision } = position.clone();
        let head = Head { stream_id, revision, lengths: messages.iter().map(Vec::len).collect() };
        let head = serde_json::to_vec(&head)?;
        let mut plain = (head.len() as u64).to_le_bytes().to_vec();
        plain.extend_from_slice(&head);
        for message in messages {
            plain.extend_from_slice(message);
        }
        let sealed = self.keyring.seal(SEAL_CONTEXT, &plain);
        let mut record = (sealed.len() as u64).to_le_bytes().to_vec();
        record.extend_from_slice(&sealed);
        Ok(record)
    }

    /// Replaces a file, such that a crash leaves the old one or the new one.
    fn replace_file(&self, path: &Path, record: &[u8]) -> io::Result<()> {
        let temporary = self.folder.join("new");
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(record)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    }

    fn replace(&self, position: &AppliedPosition, snapshot: Vec<u8>) -> io::Result<()> {
        self.replace_file(&self.snapshot_path(), &self.record(position, &[snapshot])?)?;
        // Changes that stay after a crash are older than the snapshot, or of another stream, and not read.
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(self.changes_path())?;
        File::open(&self.folder)?.sync_all()
    }

    fn restart(&self, position: &AppliedPosition, messages: &[Vec<u8>]) -> io::Result<()> {
        self.replace_file(&self.changes_path(), &self.record(position, messages)?)?;
        // After a crash before this, the changes are of another stream than the snapshot, and not read.
        if let Err(error) = std::fs::remove_file(self.snapshot_path())
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        File::open(&self.folder)?.sync_all()
    }

    fn append(&self, position: &AppliedPosition, messages: &[Vec<u8>]) -> io::Result<()> {
        let record = self.record(position, messages)?;
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(self.changes_path())?;
        file.write_all(&record)?;
        file.sync_data()
    }

    fn read(&self) -> io::Result<StoredAssignments> {
        let mut stored = StoredAssignments::default();
        if let Some((head, mut messages)) = self.read_records(&self.snapshot_path())?.0.into_iter().next() {
            stored.position = AppliedPosition { stream_id: head.stream_id, revision: head.revision };
            stored.snapshot = messages.pop();
        }
        let (changes, whole_bytes) = self.read_records(&self.changes_path())?;
        if std::fs::metadata(self.changes_path()).is_ok_and(|file| file.len() > whole_bytes) {
            // What is appended after a torn record could not be read.
            OpenOptions::new().write(true).open(self.changes_path())?.set_len(whole_bytes)?;
        }
        for (head, messages) in changes {
            let is_first = stored.position.stream_id.is_empty();
            if !is_first
                && (head.stream_id != stored.position.stream_id || head.revision <= stored.position.revision)
            {
                continue;
            }
            stored.position = AppliedPosition { stream_id: head.stream_id, revision: head.revision };
            stored.messages.extend(messages);
        }
        Ok(stored)
    }

    /// Returns the records of a file up to one that is cut off or cannot be opened, and their bytes; none when it is
    /// missing.
    fn read_records(&self, path: &Path) -> io::Result<(Vec<Record>, u64)> {
        let mut bytes = Vec::new();
        match File::open(path) {
            Ok(mut file) => file.read_to_end(&mut bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
            Err(error) => return Err(error),
        };
        let (mut rest, mut records) = (bytes.as_slice(), Vec::new());
        while let Some((length, after)) = rest.split_first_chunk() {
            let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
            let Some(sealed) = after.get(..length).filter(|_| length <= MAX_RECORD_BYTES) else { break };
            let Some(record) = self.open_record(sealed) else {
                tracing::error!(file = %path.display(), "a stored assignment cannot be opened; what follows it is left out");
                break;
            };
            rest = &after[length..];
            records.push(record);
        }
        Ok((records, (bytes.len() - rest.len()) as u64))
    }

    fn open_record(&self, sealed: &[u8]) -> Option<Record> {
        let plain = self.keyring.open(SEAL_CONTEXT, sealed).ok()?;
        let (length, rest) = plain.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let head: Head = serde_json::from_slice(rest.get(..length)?).ok()?;
        let mut rest = rest.get(length..)?;
        let mut messages = Vec::with_capacity(head.lengths.len());
        for length in &head.lengths {
            messages.push(rest.get(..*length)?.to_vec());
            rest = rest.get(*length..)?;
        }
        Some((head, messages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(stream_id: &str, revision: u64) -> AppliedPosition {
        AppliedPosition { stream_id: stream_id.to_owned(), revision }
    }

    fn files() -> (tempfile::TempDir, Files) {
        let folder = tempfile::tempdir().unwrap();
        let files = Files { folder: folder.path().to_owned(), keyring: Arc::new(Keyring::ephemeral()) };
        (folder, files)
    }

    #[test]
    fn the_snapshot_and_the_changes_after_it_are_read_back() {
        let (_folder, files) = files();
        files.append(&position("a", 3), &[b"one".to_vec()]).unwrap();
        files.replace(&position("a", 7), b"all".to_vec()).unwrap();
        files.append(&position("a", 8), &[b"two".to_vec(), b"three".to_vec()]).unwrap();
        let stored = files.read().unwrap();
        assert_eq!(stored.position, position("a", 8));
        assert_eq!(stored.snapshot.as_deref(), Some(&b"all"[..]));
        assert_eq!(stored.messages, [b"two".to_vec(), b"three".to_vec()]);
        let bytes = std::fs::read(files.changes_path()).unwrap();
        assert!(!bytes.windows(3).any(|part| part == b"two"), "it is not sealed");
    }

    #[tokio::test]
    async fn writes_keep_their_order_beyond_what_may_wait() {
        let folder = tempfile::tempdir().unwrap();
        let keyring = Arc::new(Keyring::ephemeral());
        let open = || AssignmentFiles::open(folder.path().to_owned(), Arc::clone(&keyring)).unwrap();
        let (files, _) = open();
        files.replace(&position("a", 1), b"all".to_vec());
        let last = 2 * QUEUE_CAPACITY as u64;
        for revision in 2..=last {
            files.append(revision, vec![revision.to_string().into_bytes()]);
        }
        files.writer.write_pending();
        let (_, stored) = open();
        assert_eq!(stored.position, position("a", last));
        let expected: Vec<_> = (2..=last).map(|revision| revision.to_string().into_bytes()).collect();
        assert_eq!(stored.messages, expected);
    }

    #[test]
    fn without_a_snapshot_the_stream_is_read_back_too() {
        let (_folder, files) = files();
        files.replace(&position("a", 7), b"all".to_vec()).unwrap();
        files.restart(&position("b", 3), &[b"one".to_vec(), b"two".to_vec()]).unwrap();
        files.append(&position("b", 4), &[b"three".to_vec()]).unwrap();
        let stored = files.read().unwrap();
        assert_eq!((stored.position, stored.snapshot), (position("b", 4), None));
        assert_eq!(stored.messages, [b"one".to_vec(), b"two".to_vec(), b"three".to_vec()]);
    }

    #[test]
    fn changes_that_a_crash_left_behind_a_newer_snapshot_are_not_read() {
        let (_folder, files) = files();
        for (before, after) in [(position("a", 9), position("a", 9)), (position("a", 900), position("b", 2))]
        {
            files.append(&before, &[b"old".to_vec()]).unwrap();
            let changes = std::fs::read(files.changes_path()).unwrap();
            files.replace(&after, b"all".to_vec()).unwrap();
            std::fs::write(files.changes_path(), changes).unwrap();
            let stored = files.read().unwrap();
            assert_eq!((stored.position, stored.messages.len()), (after, 0));
        }
    }

    #[test]
    fn a_torn_tail_is_left_out_at_every_byte() {
        let (_folder, files) = files();
        files.replace(&position("a", 1), b"all".to_vec()).unwrap();
        files.append(&position("a", 2), &[b"one".to_vec()]).unwrap();
        let whole = std::fs::metadata(files.changes_path()).unwrap().len();
        files.append(&position("a", 3), &[b"two".to_vec()]).unwrap();
        let bytes = std::fs::read(files.changes_path()).unwrap();
        for end in usize::try_from(whole).unwrap()..bytes.len() {
            std::fs::write(files.changes_path(), &bytes[..end]).unwrap();
            assert_eq!(files.read().unwrap().messages, [b"one".to_vec()], "{end}");
            files.append(&position("a", 3), &[b"three".to_vec()]).unwrap();
            assert_eq!(files.read().unwrap().messages, [b"one".to_vec(), b"three".to_vec()], "{end}");
        }
    }
}
