//! The core of lessregret: bytes in, slots moved, tallies out; no Python.
//!
//! ```text
//! bytes, rows ─read─▶ examples ─play, then absorb (learn)─▶ outcomes ─▶ tally
//!                        │              ▲
//!                  feature space      slots ─snapshot─▶ model file
//! ```
//!
//! Each module is a stage of the data flow, called a room in the tests. A module uses only those below it:
//!
//! ```text
//! pass
//! snapshot · merge
//! read · learn · comparator · metrics     `read` never uses `learn`, nor `learn` `read`
//! example
//! spec                          the request and the feature space, checked once
//! rule · loss
//! simd · alloc · atomic_file
//! error
//! ```
//!
//! `tests/rooms.rs` enforces this diagram. The modules are private; the public items are named below.

mod alloc;
mod atomic_file;
mod comparator;
mod error;
mod example;
mod learn;
mod loss;
mod merge;
mod metrics;
mod pass;
mod read;
mod rule;
mod simd;
mod snapshot;
mod spec;

pub use atomic_file::AtomicFile;
pub use comparator::{ColumnRows, Columns, Problem};
pub use error::{Error, InputError, Result};
pub use example::hash;
pub use example::{Chunk, Example, LabelStatistics, Names, Ordered, Requirements, SlotLookup};
pub use example::{Crossed, CrossedRows, Group, GroupedRows};
pub use example::{MOST_CROSSED, crossed_count, for_each_crossed};
pub use learn::certificate::{Certificate, Norms, SumsMark};
pub use learn::explain::{Explanation, FeaturePart};
pub use learn::late::Kept;
pub use learn::model::{Inspect, Learn, Model, Predict};
pub use learn::tally::{LaneSummary, LaneTally, SlotSummary, StackSummary, StackTally, Tally};
pub use loss::{LOSSES, Labels, Link, Loss};
pub use merge::How;
pub use metrics::{
    Area, CellParts, ClassMetrics, ClassSums, Metrics, Played, PlayedClasses, Slices, Sums,
};
pub use pass::{Explained, LabelSums, Learner, One, Outcomes, SharedLearner, Source, learn_many};
pub use read::arrow::write::Writer as ArrowWriter;
pub use read::fast::csv::TableReader;
pub use read::fast::{BlockReader, Report};
pub use read::format::csv::{Dialect, all_cells, record_at};
pub use read::format::{Fault, Format, Reader};
pub use read::json::JsonReader;
pub use read::memory::Examples;
pub use read::parallel::files::Waiting;
pub use read::rows::{Matrix, Slice};
pub use read::source::{OnInterrupt, Source as ByteSource, Stop, first_line, with_peeked_stdin};
pub use read::stream::{BadLines, Stream, StreamSpec};
pub use read::table::array::{Array, Bits, TimeUnit, Values};
pub use read::table::batch::{Batch, Batches, Content, TableColumn};
pub use read::table::batch_sample::sample_batches;
pub use read::table::cell::Cell;
pub use read::table::encoder::Encoder;
pub use read::table::faults::CellFault;
pub use read::table::infer::ColumnSample;
pub use read::table::layout::{Layout, NamesFrom};
pub use read::table::missing::Spellings;
pub use read::table::reader::RecordReader;
pub use read::table::sample::{ColumnSummary, SampleSpec, TableSummary, sample};
pub use read::table::time::Moment;
pub use rule::{Interval, per_coordinate};
pub use rule::{Line, RULES, Slot};
pub use simd::InstructionSet;
pub use snapshot::{Header, read_header};
pub use spec::{
    Classes, Column, FeatureSpace, Groups, Kind, MAX_BITS, MAX_COLUMNS, MOST_WORDS, ManyClasses,
    Namespaces, Scale, Schema, Spec, Table,
};
