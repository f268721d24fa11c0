//! Replays the corpora of the fuzz targets without a fuzzer: every seed, every input that fuzzing has found on this
//! machine, and each of them cut off at every byte.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Number of cuts of one input; those of a longer input are spread evenly over it.
const CUTS: usize = 400;

/// Declares the bodies and a test for each.
macro_rules! replayed {
    ($($name:ident in $file:literal),+ $(,)?) => {
        $(
            #[path = $file]
            mod $name;
        )+

        const BODIES: &[&str] = &[$(stringify!($name)),+];

        mod corpus {
            $(
                #[test]
                fn $name() {
                    super::replay(stringify!($name), super::$name::run);
                }
            )+
        }
    };
}

replayed! {
    charset in "../fuzz/bodies/charset.rs",
    collection in "../fuzz/bodies/collection.rs",
    dns_answer in "../fuzz/bodies/dns_answer.rs",
    documents in "../fuzz/bodies/documents.rs",
    ftp in "../fuzz/bodies/ftp.rs",
    http_answer in "../fuzz/bodies/http_answer.rs",
    imap in "../fuzz/bodies/imap.rs",
    keyword in "../fuzz/bodies/keyword.rs",
    legacy in "../fuzz/bodies/legacy.rs",
    pop3 in "../fuzz/bodies/pop3.rs",
    project in "../fuzz/bodies/project.rs",
    script in "../fuzz/bodies/script.rs",
    script_host in "../fuzz/bodies/script_host.rs",
    server_hello in "../fuzz/bodies/server_hello.rs",
    settings in "../fuzz/bodies/settings.rs",
    smtp in "../fuzz/bodies/smtp.rs",
    template in "../fuzz/bodies/template.rs",
    xpath in "../fuzz/bodies/xpath.rs",
}

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Runs `run` with every input of `name`, whole and cut off.
fn replay(name: &str, run: fn(&[u8])) {
    let mut inputs = files(&fuzz().join("seeds").join(name));
    assert!(!inputs.is_empty(), "`{name}` has no seeds");
    let corpus = fuzz().join("corpus").join(name);
    if corpus.is_dir() {
        inputs.extend(files(&corpus));
    }
    for path in inputs {
        let bytes = fs::read(&path).unwrap();
        let step = bytes.len() / CUTS + 1;
        for end in (0..bytes.len()).step_by(step).chain([bytes.len()]) {
            let outcome = catch_unwind(AssertUnwindSafe(|| run(&bytes[..end])));
            assert!(outcome.is_ok(), "the first {end} bytes of {} break `{name}`", path.display());
        }
    }
}

#[test]
fn every_fuzz_target_has_a_body_and_seeds() {
    let names = |folder: &str| -> BTreeSet<String> {
        let name = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        files(&fuzz().join(folder)).into_iter().map(name).collect()
    };
    let bodies: BTreeSet<_> = BODIES.iter().map(|name| (*name).to_owned()).collect();
    for folder in ["targets", "bodies", "seeds"] {
        assert_eq!(names(folder), bodies, "tests/fuzz/{folder}");
    }
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let built = |line: &str| Some(line.strip_prefix("path = \"targets/")?.strip_suffix(".rs\"")?.to_owned());
    assert_eq!(manifest.lines().filter_map(built).collect::<BTreeSet<_>>(), bodies, "tests/fuzz/Cargo.toml");
}
