//! Runs one kernel of the core on seeded data, for callgrind to count instructions.
//!
//! ```text
//! kernels KERNEL REPEATS
//! ```
//!
//! prints the number of features in one repetition. All data are generated once, before the kernel runs. So
//! the difference of two runs that differ only in REPEATS is the cost of the kernel alone.

mod seeded;

use std::fmt::Write as _;
use std::io::{Cursor, Write};

use lessregret_core::Chunk;
use lessregret_core::Model;
use lessregret_core::{BadLines, FeatureSpace, Stream, StreamSpec};
use lessregret_core::{Format, Labels};
use seeded::{Numbers, Outcome, learner, random_chunk};

const BITS: u32 = 18;
const EXAMPLES: usize = 2_000;
const CLICK_FEATURES: usize = 20;
const TEXT_FEATURES: u64 = 75;
const SEED: u64 = 1;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kernel, repeats] = arguments.as_slice() else { return Err(USAGE.into()) };
    let repeats = repeats.parse()?;
    let features = match kernel.as_str() {
        "parse-svmlight" => parse(&tfidf_text("")?, Format::Svmlight, repeats)?,
        "parse-vw" => parse(&tfidf_text("| ")?, Format::Vw, repeats)?,
        "parse-vw-tokens" => parse(&click_text()?, Format::Vw, repeats)?,
        "learn-one" => learn(learner(BITS, "0.1")?, repeats)?,
        "learn-eight" => learn(learner(BITS, "\"auto\"")?, repeats)?,
        "predict-one" => predict(learner(BITS, "0.1")?, repeats)?,
        "predict-eight" => predict(learner(BITS, "\"auto\"")?, repeats)?,
        _ => return Err(USAGE.into()),
    };
    writeln!(std::io::stdout(), "{features}")?;
    Ok(())
}

const USAGE: &str = "expected KERNEL REPEATS; kernels: parse-svmlight parse-vw parse-vw-tokens \
                     learn-one learn-eight predict-one predict-eight";

/// Lines of ascending numbers with values; `bar` follows the label in Vowpal Wabbit's text.
fn tfidf_text(bar: &str) -> Outcome<String> {
    let mut numbers = Numbers(SEED);
    let mut text = String::new();
    for _ in 0..EXAMPLES {
        write!(text, "{} {bar}", numbers.label())?;
        let mut index = 0;
        for _ in 0..TEXT_FEATURES {
            index += 1 + numbers.below(1_300);
            write!(text, "{index}:0.{:06} ", 1 + numbers.below(999_999))?;
        }
        text.push('\n');
    }
    Ok(text)
}

/// Lines of ten namespaces with two tokens each.
fn click_text() -> Outcome<String> {
    let mut numbers = Numbers(SEED);
    let mut text = String::new();
    for _ in 0..EXAMPLES {
        write!(text, "{}", numbers.label())?;
        for field in 0..CLICK_FEATURES / 2 {
            let (first, second) = (numbers.next() as u32, numbers.next() as u32);
            write!(text, " |f{field:02} {first:08x} {second:08x}")?;
        }
        text.push('\n');
    }
    Ok(text)
}

fn parse(text: &str, format: Format, repeats: usize) -> Outcome<usize> {
    let labels = Labels::Binary;
    let spec = StreamSpec {
        format,
        space: FeatureSpace::text(BITS, labels),
        bad_lines: BadLines::Stop,
        names: false,
    };
    let mut chunk = Chunk::new(None);
    let mut features = 0;
    for _ in 0..repeats {
        let bytes = Cursor::new(text.as_bytes().to_vec());
        let mut stream = Stream::over("seeded", Box::new(bytes), spec.clone());
        features = 0;
        while stream.fill(&mut chunk, usize::MAX)? > 0 {
            features += chunk.features();
        }
    }
    Ok(features)
}

fn learn(mut model: Box<dyn Model>, repeats: usize) -> Outcome<usize> {
    let chunk = random_chunk(BITS, EXAMPLES, CLICK_FEATURES, SEED);
    let mut margins = Vec::new();
    for _ in 0..repeats {
        margins.clear();
        model.learn((&chunk).into(), &mut margins)?;
    }
    Ok(chunk.features())
}

fn predict(mut model: Box<dyn Model>, repeats: usize) -> Outcome<usize> {
    let chunk = random_chunk(BITS, EXAMPLES, CLICK_FEATURES, SEED);
    let mut margins = Vec::new();
    model.learn((&chunk).into(), &mut margins)?;
    for _ in 0..repeats {
        margins.clear();
        model.predict((&chunk).into(), &mut margins);
    }
    Ok(chunk.features())
}
