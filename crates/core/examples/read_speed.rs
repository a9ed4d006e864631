//! Reads a file and prints how long it took: `cargo run --release --example read_speed -- FILE THREADS`.

use std::time::Instant;

use lessregret_core::Chunk;
use lessregret_core::{BadLines, FeatureSpace, Stream, StreamSpec};
use lessregret_core::{Format, Labels};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().unwrap_or_else(|| "-".to_owned());
    let spec = StreamSpec {
        format: Format::Auto,
        space: FeatureSpace::text(22, Labels::Binary),
        bad_lines: BadLines::Stop,
        names: false,
    };
    let threads = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let begun = Instant::now();
    let mut stream = Stream::open(vec![file], spec).threads(threads);
    let mut chunk = Chunk::new(Some(1 << 22));
    let (mut examples, mut features) = (0, 0);
    loop {
        match stream.fill(&mut chunk, 1 << 14) {
            Ok(0) => break,
            Ok(count) => examples += count,
            Err(error) => return eprintln!("{error}"),
        }
        features += chunk.features();
    }
    let seconds = begun.elapsed().as_secs_f64();
    let rate = stream.bytes_read() as f64 / seconds / 1e6;
    eprintln!("{examples} examples, {features} features, {seconds:.3} s, {rate:.0} MB/s");
}
