//! Passes over examples for the best fixed point in hindsight.
//!
//! The problem: over the box F = Π `[a_i, b_i]`, minimise
//!
//! ```text
//! P(x) = Σ_t h_t ℓ(b_t + x·θ_t, y_t) + ½ Σ_i λ_i x_i²        b_t the base margin of the example
//! ```
//!
//! Given x, the search for the minimum needs quantities that are linear in the features: the margins, the
//! gradient Σ_t ℓ'_t θ_t, and the product of the Hessian Σ_t ℓ''_t θ_t θ_tᵀ with a direction. They are
//! computed here; the search itself is `python/lessregret/regret/comparator/`. For a piecewise linear loss in
//! memory the search uses the rows and the importances of their labels instead.
//!
//! Three optimisations:
//! 1. [`Columns`]: the features that occur are numbered without gaps, so that vectors have one entry for
//!    each of them, not for each slot of the table;
//! 2. [`Problem`] merges examples with the same features: 300,000 simulated impressions have 72,000
//!    distinct rows, which makes a pass four times shorter. Nothing is lost, since the losses of
//!    merged examples add up to a function of their common margin (see [`Target`](crate::loss::Target));
//! 3. rows are cut into `PARTS` parts (`comparator/problem.rs`) with a gradient each, so that cores share
//!    a pass. The number of parts does not depend on the machine, so the results are bit-identical.

mod columns;
mod problem;

pub use columns::{ColumnRows, Columns};
pub use problem::Problem;
