//! Puts the captures of each agent together apart from those of the others, so that none of them uses up the memory for all.

use std::collections::HashMap;

use crate::bus::contract::ResultCaptures;
use crate::bus::messages::{CaptureAssembler, CapturePieceMessage, MessageError};
use crate::domain::{AgentId, LocationId};

/// Most bytes of one agent whose pieces are coming in: room for the largest file.
const MAX_BYTES_OF_AGENT: usize = 65 * 1024 * 1024;
/// Most bytes of all agents whose pieces are coming in.
const MAX_BYTES: usize = 256 * 1024 * 1024;

type Sender = (LocationId, AgentId);

/// What became of a piece.
pub(super) struct AddedPiece {
    /// Its file, with the last piece; why it was refused, when it is invalid or one before it is missing.
    pub(super) file: Result<Option<ResultCaptures>, MessageError>,
    /// How many files of which agent had to be dropped.
    pub(super) dropped: Option<(Sender, usize)>,
}

/// Files whose pieces are coming in, by agent. Agents without any take no memory.
#[derive(Debug, Default)]
pub(super) struct CapturesByAgent {
    assemblers: HashMap<Sender, CaptureAssembler>,
}

impl CapturesByAgent {
    /// Adds a piece of `sender`.
    pub(super) fn add(&mut self, sender: Sender, piece: CapturePieceMessage) -> AddedPiece {
        let assembler =
            self.assemblers.entry(sender).or_insert_with(|| CaptureAssembler::new(MAX_BYTES_OF_AGENT));
        let file = assembler.add(piece);
        let mut dropped = (sender, assembler.take_dropped());
        if assembler.held_bytes() == 0 {
            self.assemblers.remove(&sender);
        } else if self.assemblers.values().map(CaptureAssembler::held_bytes).sum::<usize>() > MAX_BYTES
            && let Some(most) = self.sender_of_most()
            && let Some(mut assembler) = self.assemblers.remove(&most)
        {
            assembler.clear();
            dropped = (most, assembler.take_dropped());
        }
        AddedPiece { file, dropped: Some(dropped).filter(|(_, files)| *files > 0) }
    }

    fn sender_of_most(&self) -> Option<Sender> {
        let most = self.assemblers.iter().max_by_key(|(_, assembler)| assembler.held_bytes());
        most.map(|(sender, _)| *sender)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CheckId, MonitorId, RunId, Timestamp};

    const PIECE_BYTES: usize = 512 * 1024;

    /// Returns a piece of a file with two of them.
    fn piece(agent: i64, minute: i64, offset: usize) -> (Sender, CapturePieceMessage) {
        let (monitor_id, location_id) = (MonitorId(agent), LocationId(5));
        let planned_at = Timestamp::from_seconds(60 * minute);
        let check_id = CheckId::new(RunId::new(monitor_id, planned_at), location_id);
        let piece = CapturePieceMessage {
            check_id: check_id.0,
            monitor_id: monitor_id.0,
            location_id: location_id.0,
            planned_at_us: planned_at.as_micros(),
            name: "screen.png".to_owned(),
            media_type: "image/png".to_owned(),
            file_bytes: 2 * PIECE_BYTES as u64,
            offset: offset as u64,
            content: vec![1; PIECE_BYTES].into(),
            is_last: false,
        };
        ((location_id, AgentId(agent)), piece)
    }

    #[test]
    fn an_agent_that_finishes_nothing_costs_the_others_nothing() {
        let mut captures = CapturesByAgent::default();
        let (honest, first_half) = piece(1, 0, 0);
        assert_eq!(captures.add(honest, first_half).file.unwrap(), None);
        let mut dropped_files = 0;
        for minute in 0..400 {
            let (hostile, half) = piece(2, minute, 0);
            let AddedPiece { file, dropped } = captures.add(hostile, half);
            assert_eq!(file.unwrap(), None);
            if let Some((sender, files)) = dropped {
                assert_eq!(sender, hostile);
                dropped_files += files;
            }
        }
        assert_eq!(dropped_files, 400 - 64);
        let second_half = piece(1, 0, PIECE_BYTES).1;
        assert!(captures.add(honest, second_half).file.unwrap().is_some(), "its own file is complete");
        assert_eq!(captures.assemblers.len(), 1, "an agent without open files takes no memory");
    }

    #[test]
    fn all_agents_together_are_bounded() {
        let mut captures = CapturesByAgent::default();
        let mut dropped_files = 0;
        for agent in 0..20 {
            for minute in 0..60 {
                let (sender, half) = piece(agent, minute, 0);
                dropped_files += captures.add(sender, half).dropped.map_or(0, |(_, files)| files);
            }
        }
        let held = captures.assemblers.values().map(CaptureAssembler::held_bytes).sum::<usize>();
        assert!(held <= MAX_BYTES && dropped_files > 0, "{held} bytes held, {dropped_files} dropped");
    }
}
