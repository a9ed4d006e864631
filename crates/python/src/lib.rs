//! The Python bindings of the core: converts arguments and errors, and does no arithmetic.

mod arrays;
mod bytes;
mod comparator;
mod csv;
mod errors;
mod examples;
mod explained;
mod files;
mod json;
mod late;
mod learner;
mod many;
mod metrics;
mod one;
mod shared;
mod stream;
mod sums;
mod tables;

use pyo3::prelude::*;

/// The native extension module of lessregret.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::comparator::{Columns, Problem};
    #[pymodule_export]
    use super::csv::{peek_line, sample_table, split_cells};
    #[pymodule_export]
    use super::examples::{Examples, Outcomes, Rows};
    #[pymodule_export]
    use super::examples::{JsonReader, cross_rows, hash_features, ordered_namespaces};
    #[pymodule_export]
    use super::files::{ArrowWriter, AtomicFile, read_model_header};
    #[pymodule_export]
    use super::learner::{Learner, SumsMark};
    #[pymodule_export]
    use super::many::learn_many;
    #[pymodule_export]
    use super::metrics::{ClassMetrics, Metrics, Slices};
    #[pymodule_export]
    use super::stream::Stream;
    #[pymodule_export]
    use super::tables::Table;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    const MAX_BITS: u32 = lessregret_core::MAX_BITS;
    #[pymodule_export]
    const MAX_COLUMNS: u32 = lessregret_core::MAX_COLUMNS;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let losses: Vec<_> = lessregret_core::LOSSES.iter().map(|loss| loss.name()).collect();
        module.add("LOSSES", losses)?;
        module.add("RULES", lessregret_core::RULES.to_vec())
    }
}
