//! Runs the fuzz targets in a plain loop: mutate an input that was accepted, run the target, keep what is
//! accepted.
//!
//! ```text
//! cargo run --release -p lessregret-core --example fuzz [TARGET ...]
//! LESSREGRET_FUZZ_SECONDS   the time for each target; 60
//! LESSREGRET_FUZZ_SEED      the seed of all mutations; 1
//! LESSREGRET_FUZZ_CORPUS    a folder to write the seeds to, for cargo-fuzz, without running anything
//! ```
//!
//! An input that makes a target panic is written to the folder of temporary files, and the exit code is 1.
#![allow(clippy::print_stdout, reason = "a program, not a library")]

#[path = "../../../fuzz/targets/mod.rs"]
mod targets;

use std::panic::catch_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs};

use targets::{TARGETS, Target};

/// The most inputs that are kept.
const CORPUS: usize = 512;
/// The longest input.
const LONGEST: usize = 1 << 14;
/// Bytes with a meaning in one of the grammars.
const TOKENS: &[&[u8]] = &[
    b"0",
    b"-1",
    b"1e39",
    b"-0.0",
    b"1e308",
    b"null",
    b"true",
    b"18446744073709551615",
    b"{}",
    b"[]",
    b"\"",
    b"\\\"",
    b",",
    b":",
    b"|",
    b"'",
    b"#",
    b" ",
    b"\t",
    b"\r\n",
    b"\n",
    b".",
    b"e",
    b"-",
    b"nan",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xff\xff\xff\x7f",
    b"\0\0\xc0\x7f",
    b"\0\0\x80\xbf",
    b"\"rate\":-1",
];

/// A small generator of pseudo-random numbers, the same on every machine.
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    fn piece<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let start = self.below(bytes.len() + 1);
        let length = self.below((bytes.len() - start).min(32) + 1);
        &bytes[start..start + length]
    }

    /// One of the inputs with a few changes: bytes replaced, removed, put in, or taken from another input.
    fn mutated(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(4) {
            let start = self.below(bytes.len() + 1);
            let end = start + self.below((bytes.len() - start).min(12) + 1);
            match self.below(6) {
                0 if start < bytes.len() => bytes[start] ^= 1 << self.below(8),
                1 if start < bytes.len() => bytes[start] = self.below(256) as u8,
                2 => drop(bytes.drain(start..end)),
                3 => drop(bytes.splice(start..end, TOKENS[self.below(TOKENS.len())].to_vec())),
                4 => {
                    let other = self.below(corpus.len());
                    let piece = self.piece(&corpus[other]).to_vec();
                    drop(bytes.splice(start..end, piece));
                }
                _ => {
                    let piece = self.piece(&bytes).to_vec();
                    drop(bytes.splice(start..start, piece));
                }
            }
        }
        bytes.truncate(LONGEST);
        bytes
    }
}

fn number(variable: &str, otherwise: u64) -> u64 {
    env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Run a target for some time; false if it has panicked.
fn fuzz(target: &Target, seed: u64, time: Duration) -> bool {
    let (mut corpus, mut draws) = ((target.seeds)(), Draws(seed));
    let (start, seeds) = (Instant::now(), corpus.len());
    let (mut executions, mut accepted) = (0u64, 0u64);
    while start.elapsed() < time || executions < seeds as u64 {
        // The seeds themselves come first.
        let input = match corpus.get(executions as usize) {
            Some(input) if executions < seeds as u64 => input.clone(),
            _ => draws.mutated(&corpus),
        };
        let Ok(is_accepted) = catch_unwind(|| (target.run)(&input)) else {
            let path = env::temp_dir().join(format!("lessregret-fuzz-{}", target.name));
            let written = fs::write(&path, &input).is_ok();
            println!("{}: panicked; input in {} ({written})", target.name, path.display());
            return false;
        };
        executions += 1;
        accepted += u64::from(is_accepted);
        match is_accepted && executions > seeds as u64 {
            true if corpus.len() < CORPUS => corpus.push(input),
            true => {
                // The seeds stay.
                let place = seeds + draws.below(CORPUS - seeds);
                corpus[place] = input;
            }
            false => {}
        }
    }
    println!("{}: {executions} executions, {accepted} accepted, {seeds} seeds", target.name);
    true
}

fn write_seeds(folder: &Path) -> std::io::Result<()> {
    for target in TARGETS {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder)?;
        for (k, seed) in (target.seeds)().iter().enumerate() {
            fs::write(folder.join(format!("seed-{k}")), seed)?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    if let Some(folder) = env::var_os("LESSREGRET_FUZZ_CORPUS") {
        return match write_seeds(Path::new(&folder)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                println!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let (seed, seconds) =
        (number("LESSREGRET_FUZZ_SEED", 1), number("LESSREGRET_FUZZ_SECONDS", 60));
    let named: Vec<String> = env::args().skip(1).collect();
    println!("seed {seed}, {seconds} seconds a target");
    let chosen =
        TARGETS.iter().filter(|t| named.is_empty() || named.iter().any(|name| name == t.name));
    // All targets run, also after one that has panicked.
    let sound: Vec<bool> =
        chosen.map(|target| fuzz(target, seed, Duration::from_secs(seconds))).collect();
    if sound.contains(&false) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
