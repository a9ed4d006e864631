//! Are the fast readers, on any number of threads, bit-identical to the strict reader?

mod copies;
#[path = "../../../fuzz/targets/differential.rs"]
mod differential;
mod trickle;

use std::io::{self, Cursor, Read};
use std::sync::Arc;

use copies::copied;
use differential::{Outcome, fast, strict};
use lessregret_core::InstructionSet;
use lessregret_core::{BadLines, FeatureSpace, Stream, StreamSpec};
use lessregret_core::{Chunk, Error, Namespaces, Requirements};
use lessregret_core::{Format, Labels};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use trickle::Trickle;

/// The result of a stream.
fn streamed(
    bytes: &[u8],
    spec: &StreamSpec,
    required: &Requirements,
    [step, limit, threads]: [usize; 3],
) -> (Outcome, u64) {
    let source = Trickle(Cursor::new(bytes.to_vec()), step);
    let mut stream = Stream::over("data", Box::new(source), spec.clone()).threads(threads);
    let mut chunk = Chunk::for_requirements(required.clone());
    let mut examples = Vec::new();
    loop {
        match stream.fill(&mut chunk, limit) {
            Ok(0) => break,
            Ok(_) => examples.extend(copied(&chunk)),
            Err(Error::Input(error)) => return (Outcome { examples, bad: vec![error] }, 1),
            Err(error) => panic!("{error}"),
        }
    }
    let bad = stream.first_skipped().cloned().into_iter().collect();
    (Outcome { examples, bad }, stream.skipped())
}

fn specs() -> impl Strategy<Value = StreamSpec> {
    let formats = prop_oneof![Just(Format::Auto), Just(Format::Svmlight), Just(Format::Vw)];
    let labels =
        prop_oneof![3 => Just(Labels::Binary), 1 => Just(Labels::Real), 1 => Just(Labels::Any)];
    let bad_lines = prop_oneof![1 => Just(BadLines::Stop), 3 => Just(BadLines::Skip)];
    let bits = prop_oneof![1..=31u32, 20..=22u32];
    (formats, labels, bits, bad_lines, namespaces()).prop_map(
        |(format, labels, bits, bad_lines, namespaces)| StreamSpec {
            format,
            space: FeatureSpace {
                // Only this format has namespaces.
                namespaces: namespaces.filter(|_| format == Format::Vw).map(Arc::new),
                ..FeatureSpace::text(bits, labels)
            },
            bad_lines,
            names: false,
        },
    )
}

/// None, or namespaces of letters that lines have, with crosses.
fn namespaces() -> impl Strategy<Value = Option<Namespaces>> {
    let name = || prop_oneof![3 => Just(":".to_owned()), 3 => "[a-e]", 1 => Just(" ".to_owned())];
    let crosses = prop::collection::vec(prop::collection::vec(name(), 2..4), 0..3);
    let some = || prop::collection::vec("[a-m]", 0..6);
    let crossed = (some(), some(), crosses).prop_map(|(keep, ignore, crosses)| {
        let written = serde_json::json!({
            "of": "namespaces", "keep": keep, "ignore": ignore, "crosses": crosses
        });
        serde_json::from_value(written).expect("namespaces are strings")
    });
    prop_oneof![1 => Just(None), 2 => crossed.prop_map(Some)]
}

fn numbers() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "-?0\\.[0-9]{1,8}",
        1 => "-?0(\\.0)?",
        2 => "-?[0-9]{1,9}",
        2 => "-?[0-9]{0,9}\\.[0-9]{0,12}",
        1 => "[0-9]{15,20}(\\.[0-9]{1,5})?",
        1 => "0\\.[0-9]{9,18}",
        1 => "[0-9]e-?[0-9]{1,3}",
        1 => "(nan|inf|x|\\+1|--1|1\\.2\\.3|-|1e38|1:2|9007199254740993|é)",
    ]
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z^#]{1,18}",
        2 => "[0-9]{1,9}",
        1 => "[0-9]{10,22}",
        1 => "[0-9]{1,3}[a-z]{1,3}",
        1 => "(é|日本|\u{1}a|a\u{1}|\u{7f}|'|)",
    ]
}

fn blanks() -> impl Strategy<Value = String> {
    prop_oneof![30 => Just(" ".to_owned()), 1 => "[ \t]{0,2}", 1 => Just("\r".to_owned())]
}

fn ends() -> impl Strategy<Value = String> {
    prop_oneof![12 => Just("\n".to_owned()), 2 => Just("\r\n".to_owned()), 1 => "( | # c|\t)?\n"]
}

fn labels() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just("1".to_owned()), 6 => Just("-1".to_owned()), 1 => "(0|\\+1|1\\.0|2|0\\.5|x| 1)"]
}

fn svmlight_line() -> impl Strategy<Value = String> {
    let feature = (blanks(), 0..40u64, numbers(), prop_oneof![20 => Just(":"), 1 => Just("")]);
    let query = prop_oneof![10 => Just(String::new()), 1 => " qid:[0-9x]{1,2}"];
    (labels(), query, prop::collection::vec(feature, 0..8), 0..20u8, ends()).prop_map(
        |(label, query, features, sorted, end)| {
            let mut index = 0;
            let mut line = label + &query;
            for (blank, step, number, colon) in features {
                index = if sorted > 1 { index + step + 1 } else { step };
                line += &format!("{blank}{index}{colon}{number}");
            }
            line + &end
        },
    )
}

fn vw_line() -> impl Strategy<Value = String> {
    let value =
        prop_oneof![2 => Just(String::new()), 2 => numbers().prop_map(|text| format!(":{text}"))];
    let feature =
        (blanks(), names(), value).prop_map(|(blank, name, value)| blank + &name + &value);
    let weight =
        prop_oneof![9 => Just(String::new()), 1 => numbers().prop_map(|text| format!(":{text}"))];
    let features = prop::collection::vec(feature, 0..6).prop_map(|words| words.concat());
    let block = (names(), weight, features)
        .prop_map(|(name, weight, rest)| format!("|{name}{weight}{rest}"));
    let blocks = prop::collection::vec((block, blanks()), 0..4);
    let head = prop_oneof![6 => Just(" ".to_owned()), 1 => "( 2.5)?( '[a-z:]{0,3}| t|  )? ?"];
    (labels(), head, blocks, ends()).prop_map(|(label, head, blocks, end)| {
        let blocks: String = blocks.into_iter().map(|(block, blank)| block + &blank).collect();
        format!("{label}{head}{blocks}{end}")
    })
}

/// Lines of integers and fractions, which are parsed by fours, with a few other features among them.
fn paired_line() -> impl Strategy<Value = String> {
    let value = prop_oneof![30 => "0\\.[0-9]{1,8}", 1 => numbers()];
    let odd = prop_oneof![60 => Just(None), 1 => names().prop_map(Some)];
    let step = prop_oneof![8 => 1..2000u64, 1 => 0..90_000_000u64];
    let pair = (blanks(), odd, step, value);
    let head =
        prop_oneof![3 => Just(""), 2 => Just(" |"), 2 => Just(" |text"), 1 => Just(" |a:0.5")];
    (labels(), head, prop::collection::vec(pair, 0..24), ends()).prop_map(
        |(label, head, pairs, end)| {
            let mut line = label + head;
            let mut index = 0;
            for (blank, odd, step, value) in pairs {
                index += step;
                let name = odd.unwrap_or_else(|| index.to_string());
                line += &format!("{blank}{name}:{value}");
            }
            line + &end
        },
    )
}

/// Files of lines that are nearly good, with a few bytes changed.
fn files() -> impl Strategy<Value = Vec<u8>> {
    let lines = prop_oneof![
        prop::collection::vec(svmlight_line(), 0..40),
        prop::collection::vec(vw_line(), 0..40),
        prop::collection::vec(paired_line(), 0..40),
    ];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    let separator = prop_oneof![9 => Just(""), 1 => Just("\u{feff}")];
    (separator, lines, changes).prop_map(|(separator, lines, changes)| {
        let mut bytes = (separator.to_owned() + &lines.concat()).into_bytes();
        for (place, byte) in changes {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        bytes
    })
}

fn is_text(bytes: &[u8]) -> bool {
    let packed: [&[u8]; 4] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zX", b"PK\x03\x04"];
    !packed.iter().any(|magic| bytes.starts_with(magic))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        rng_seed: RngSeed::Fixed(2010),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_path_reads_as_the_strict_reader(
        bytes in files(),
        spec in specs(),
        intercept in prop::option::of(0..9u32),
        zeros in any::<bool>(),
    ) {
        let required = Requirements { intercept, zeros, index: None };
        let mut expected = strict(&bytes, &spec, &required);
        let count = expected.bad.len();
        expected.bad.truncate(1);
        for path in InstructionSet::available() {
            let found = fast(path, &bytes, &spec, &required);
            prop_assert_eq!(&found.0, &expected);
            prop_assert_eq!(found.1, count);
        }
    }

    #[test]
    fn blocks_limits_and_threads_change_nothing(
        bytes in files(), spec in specs(), step in 1..400usize, limit in 1..9usize,
        zeros in any::<bool>(),
    ) {
        prop_assume!(is_text(&bytes));
        let required = Requirements { intercept: Some(3), zeros, index: None };
        let mut expected = strict(&bytes, &spec, &required);
        let count = expected.bad.len() as u64;
        expected.bad.truncate(1);
        for threads in [1, 2, 4] {
            for (step, limit) in [(step, limit), (step, usize::MAX), (usize::MAX, limit)] {
                let found = streamed(&bytes, &spec, &required, [step, limit, threads]);
                prop_assert_eq!(&found.0, &expected);
                prop_assert_eq!(found.1, count);
            }
        }
    }
}

/// Many lines: enough for blocks of the full size, parsed by helper threads.
fn many_lines() -> Vec<u8> {
    let mut text = String::new();
    for k in 0..60_000u32 {
        let word = k.wrapping_mul(2_654_435_761) >> 12;
        let label = if word % 3 == 0 { "1" } else { "-1" };
        text += &format!("{label} {k}:0.{word} {}:-{}.5 99999999:1\n", k + 1 + word, word % 7);
    }
    text.into_bytes()
}

const MANY: StreamSpec = StreamSpec {
    format: Format::Auto,
    space: FeatureSpace::text(18, Labels::Binary),
    bad_lines: BadLines::Skip,
    names: false,
};

#[test]
fn a_negative_of_another_spelling_is_found_wherever_it_stands() {
    let mut bytes = many_lines();
    // Far from the start, where a helper does not know the labels before; then a line that is bad anyway.
    let odd = b"0 1:1\n0 2:x\n0 3:1\n";
    let place = bytes.len() * 2 / 3;
    let place = place + bytes[place..].iter().position(|&byte| byte == b'\n').unwrap() + 1;
    bytes.splice(place..place, odd.iter().copied());
    for bad_lines in [BadLines::Skip, BadLines::Stop] {
        let spec = StreamSpec { bad_lines, ..MANY };
        let mut expected = strict(&bytes, &spec, &Requirements::default());
        assert!(expected.bad[0].expected.contains("1 or -1, as in the lines before"));
        let count = expected.bad.len() as u64;
        expected.bad.truncate(1);
        for threads in [1, 2, 4] {
            let found =
                streamed(&bytes, &spec, &Requirements::default(), [usize::MAX, 5000, threads]);
            assert!(found.0 == expected, "{threads} threads");
            assert_eq!(found.1, count);
        }
    }
}

/// A slot that no feature has.
const INTERCEPT: u32 = 1 << 18;

#[test]
fn an_intercept_may_change_in_the_middle_of_a_block() {
    let bytes = many_lines();
    let source = Box::new(Cursor::new(bytes.clone()));
    let mut stream = Stream::over("data", source, MANY).threads(2);
    let mut examples = Vec::new();
    for k in 0.. {
        let mut chunk = Chunk::new(if k % 2 == 0 { None } else { Some(INTERCEPT) });
        if stream.fill(&mut chunk, 700).unwrap() == 0 {
            break;
        }
        assert!(chunk.examples().all(|example| example.slots.contains(&INTERCEPT) == (k % 2 == 1)));
        examples.extend((0..chunk.len()).map(|i| chunk.example(i).label.to_bits()));
    }
    let expected = strict(&bytes, &MANY, &Requirements::default()).examples;
    assert!(examples.iter().eq(expected.iter().map(|(label, ..)| label)));
}

/// A pipe that gives a few lines, then blocks and never ends. Its reader sleeps, unless it is the stream's
/// own thread, which is woken by a signal.
struct Silent(usize);

const LINE: &[u8] = b"1 1:1\n";

impl Read for Silent {
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
        if self.0 == 0 {
            if std::thread::current().name() != Some("lessregret reader") {
                return Err(io::ErrorKind::Interrupted.into());
            }
            loop {
                std::thread::park();
            }
        }
        self.0 -= 1;
        scratch[0] = LINE[LINE.len() - 1 - self.0 % LINE.len()];
        Ok(1)
    }
}

#[test]
fn a_stream_can_be_dropped_while_a_helper_waits_for_a_pipe() {
    let mut stream = Stream::over("pipe", Box::new(Silent(6 * 8)), MANY).threads(2);
    let mut chunk = Chunk::new(None);
    for _ in 0..4 {
        assert_eq!(stream.fill(&mut chunk, 1), Ok(1));
    }
    drop(stream);
}

#[test]
fn an_interrupt_reaches_a_stream_whose_helper_waits_for_a_pipe() {
    let stop = || Err(io::Error::other("stop"));
    let stream = Stream::over("pipe", Box::new(Silent(6 * 20)), MANY);
    let mut stream = stream.threads(2).on_interrupt(stop);
    let mut chunk = Chunk::new(None);
    let mut outcome = stream.fill(&mut chunk, 1);
    while outcome == Ok(1) {
        outcome = stream.fill(&mut chunk, 1);
    }
    assert!(outcome.unwrap_err().to_string().contains("trouble (stop)"));
}
