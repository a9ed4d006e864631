//! The Python face of the core: arguments in, errors out, no arithmetic.

mod arrow;
mod comparator;
mod errors;
mod examples;
mod hashing;
mod learner;
mod rows;
mod slices;
mod stream;

use pyo3::prelude::*;

/// The native half of lessregret.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::arrow::ArrowWriter;
    #[pymodule_export]
    use super::comparator::{Columns, Problem};
    #[pymodule_export]
    use super::examples::{Examples, learn_stream_together};
    #[pymodule_export]
    use super::hashing::hash_features;
    #[pymodule_export]
    use super::learner::{Learner, read_model_header};
    #[pymodule_export]
    use super::stream::Stream;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("RULES", lessregret_core::spec::RULES.to_vec())
    }
}
