//! Captures go in pieces of at most 512 KiB and are put together again, within bounds.

use vigie::bus::contract::ResultCaptures;
use vigie::bus::messages::{BusMessage, CaptureAssembler, CapturePieceMessage, capture_pieces};
use vigie::domain::{CapturedFile, CheckResult};

use super::samples::failed_result;

const MIB: usize = 1024 * 1024;

/// A result with files of these sizes, each with other bytes.
fn result_with_files(sizes: &[usize]) -> CheckResult {
    let content =
        |size: usize| (0..size).map(|index| u8::try_from(index * 31 / 7 % 251).unwrap()).collect::<Vec<_>>();
    let file = |(index, size): (usize, &usize)| {
        CapturedFile::new(&format!("file {index}"), "application/octet-stream", &content(*size))
    };
    CheckResult { captures: sizes.iter().enumerate().map(file).collect(), ..failed_result() }
}

/// Returns the pieces as they are received.
fn received_pieces(result: &CheckResult) -> Vec<CapturePieceMessage> {
    capture_pieces(result)
        .map(|piece| CapturePieceMessage::from_bytes(&piece.to_bytes().unwrap()).unwrap())
        .collect()
}

fn assemble(assembler: &mut CaptureAssembler, pieces: Vec<CapturePieceMessage>) -> Vec<ResultCaptures> {
    pieces.into_iter().filter_map(|piece| assembler.add(piece).unwrap()).collect()
}

#[test]
fn files_of_every_size_come_out_as_they_went_in() {
    let result = result_with_files(&[0, 1, MIB / 2, MIB / 2 + 1, 3 * MIB + 17]);
    let pieces = received_pieces(&result);
    assert_eq!(pieces.len(), 1 + 1 + 1 + 2 + 7);
    assert!(pieces.iter().all(|piece| piece.content.len() <= 512 * 1024));
    let mut assembler = CaptureAssembler::new(8 * MIB);
    let assembled = assemble(&mut assembler, pieces);
    for (captures, file) in assembled.iter().zip(&result.captures) {
        assert_eq!(captures.check_id, result.check_id);
        assert_eq!((captures.monitor_id, captures.planned_at), (result.monitor_id, result.planned_at));
        assert_eq!(captures.files, std::slice::from_ref(file));
    }
    assert_eq!(assembled.len(), result.captures.len());
    assert_eq!(assembler.take_dropped(), 0);
}

#[test]
fn repeated_pieces_are_ignored_and_a_missing_one_is_an_error() {
    let result = result_with_files(&[2 * MIB]);
    let pieces = received_pieces(&result);
    let mut assembler = CaptureAssembler::new(8 * MIB);
    let repeated: Vec<_> = pieces.iter().take(3).flat_map(|piece| [piece.clone(), piece.clone()]).collect();
    assert!(assemble(&mut assembler, repeated).is_empty());
    let assembled = assemble(&mut assembler, pieces[1..].to_vec());
    assert_eq!(assembled[0].files, result.captures);
    let mut assembler = CaptureAssembler::new(8 * MIB);
    assemble(&mut assembler, pieces[..1].to_vec());
    let error = assembler.add(pieces[2].clone()).unwrap_err().to_string();
    assert!(error.contains("`offset`") && error.contains("524288 bytes so far"), "{error}");
}

#[test]
fn unfinished_files_are_bounded() {
    let mut assembler = CaptureAssembler::new(4 * MIB);
    let first_pieces = |planned_at: i64| {
        let metadata = super::samples::metadata(vigie::domain::MonitorType::Ping);
        let planned_at = super::samples::at(planned_at);
        let result = result_with_files(&[MIB]);
        let run_id = vigie::domain::RunId::new(metadata.monitor_id, planned_at);
        let check_id = vigie::domain::CheckId::new(run_id, metadata.location_id);
        received_pieces(&CheckResult { check_id, run_id, planned_at, ..result })
    };
    for number in 0..100 {
        assemble(&mut assembler, first_pieces(number)[..1].to_vec());
    }
    let dropped = assembler.take_dropped();
    assert!((92..=93).contains(&dropped), "{dropped} of 100 with half a MiB each");
    // The last one is still there.
    assert_eq!(assemble(&mut assembler, first_pieces(99)[1..].to_vec()).len(), 1);
}

#[test]
fn pieces_whose_fields_do_not_fit_together_are_refused() {
    let piece = received_pieces(&result_with_files(&[10])).remove(0);
    let with = |change: fn(&mut CapturePieceMessage)| {
        let mut changed = piece.clone();
        change(&mut changed);
        CaptureAssembler::new(MIB).add(changed).unwrap_err().to_string()
    };
    for (error, field) in [
        (with(|piece| piece.check_id += 1), "check_id"),
        (with(|piece| piece.name.clear()), "name"),
        (with(|piece| piece.name = "../../etc/passwd".to_owned()), "name"),
        (with(|piece| piece.media_type = "x".repeat(2000)), "media_type"),
        (with(|piece| piece.file_bytes = u64::MAX), "file_bytes"),
        (with(|piece| piece.offset = u64::MAX), "offset"),
        (with(|piece| piece.file_bytes = 9), "offset"),
        (with(|piece| piece.content = vec![0; 600_000].into()), "content"),
    ] {
        assert!(error.contains(&format!("`capture_piece` has an invalid field `{field}`")), "{error}");
    }
}
