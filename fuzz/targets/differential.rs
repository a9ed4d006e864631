//! The two readers of text: the fast one in two stages, and the strict one that it must equal.

use lessregret_core::{
    BadLines, BlockReader, Chunk, InputError, InstructionSet, Reader, Requirements, StreamSpec,
};

use super::copies::{Copied, copied};

/// What a reader makes of a text.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    /// The examples.
    pub examples: Vec<Copied>,
    /// Every bad line: its number and its fault. Only the first if the reading stops there.
    pub bad: Vec<InputError>,
}

/// The number of bits of a spec's table, which must be hashed.
fn bits(spec: &StreamSpec) -> u32 {
    spec.space.bits().unwrap_or_default()
}

fn line_reader(spec: &StreamSpec) -> Reader {
    Reader::new(spec.format, spec.space.labels, bits(spec), false)
        .namespaces(spec.space.namespaces.clone())
}

/// The result of the strict reader, line by line.
pub fn strict(bytes: &[u8], spec: &StreamSpec, required: &Requirements) -> Outcome {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = line_reader(spec);
    let mut chunk = Chunk::for_requirements(required.clone());
    let mut bad = Vec::new();
    for (line, number) in bytes.split(|&byte| byte == b'\n').zip(1..) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Err(fault) = reader.read(line, &mut chunk) {
            let (column, found, expected) = (fault.column, fault.found, fault.expected);
            bad.push(InputError { file: "data".to_owned(), line: number, column, found, expected });
            if spec.bad_lines == BadLines::Stop {
                break;
            }
        }
    }
    Outcome { examples: copied(&chunk), bad }
}

/// The result of the fast reader for one block, and its number of bad lines. Only the first has its fault.
pub fn fast(
    path: InstructionSet,
    bytes: &[u8],
    spec: &StreamSpec,
    required: &Requirements,
) -> (Outcome, usize) {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut text = [bytes, b"\n"].concat();
    let lines = 0..text.len();
    // The bytes after the lines must not matter.
    text.extend(b"1 |a b:0.5 7:7\n".iter().cycle().take(80));
    let mut reader = BlockReader::new(line_reader(spec), path, spec.bad_lines == BadLines::Stop);
    let mut chunk = Chunk::for_requirements(required.clone());
    let report = reader.read(&text, lines, &mut chunk);
    let first = report.first_bad.map(|(line, fault)| InputError {
        file: "data".to_owned(),
        line,
        column: fault.column,
        found: fault.found,
        expected: fault.expected,
    });
    (Outcome { examples: copied(&chunk), bad: first.into_iter().collect() }, report.bad.len())
}
