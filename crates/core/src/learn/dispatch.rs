//! Dispatch of the kernels of models: compiled for each set of vector instructions, called once per batch.
//!
//! Kernels that are rare are compiled for fewer sets: with L2 not for AVX-512, and with a box for each coordinate without
//! vector instructions only. Each kernel is compiled for every rule, and these are five of twelve. What that costs such
//! learners was not measured. No bit depends on it.

use std::ops::Range;

use crate::error::Result;
use crate::example::{Ordered, ScaledBatch};
use crate::simd::f64x8::F64x8;
use crate::simd::{InstructionSet, Portable, Simd, WithSimd};

/// A model whose prediction kernel is compiled for each set of vector instructions.
pub(crate) trait PlayKernel: Sized {
    /// Compute the margin of every example and learn nothing.
    fn play_each<E: F64x8>(&self, simd: E, examples: Ordered<'_>, margins: &mut Vec<f64>);

    /// Whether the kernels are compiled for vector instructions.
    const VECTORISED: bool = true;
}

/// A learner whose kernels are compiled for each set of vector instructions.
pub(crate) trait Kernel: PlayKernel {
    /// Scratch memory, reused from batch to batch, with the rounds that are not recorded yet.
    type Scratch: Default;

    /// Play and absorb the examples of a batch, and store their rounds. PENALISED says that there is L2, on the
    /// features of the example.
    fn play_batch<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        batch: Batch<'_>,
        scratch: &mut Self::Scratch,
    ) -> Result<()>;
}

/// Examples to learn from, at most [`BATCH`](super::tally::BATCH).
pub(crate) struct Batch<'a> {
    pub examples: Ordered<'a>,
    /// Which of the examples.
    pub range: Range<usize>,
    /// The number of rounds before the first of them.
    pub before: u64,
    /// The examples as they are seen, if they are scaled already.
    pub scaled: Option<&'a mut ScaledBatch>,
}

/// Play and absorb a batch with the kernel for these vector instructions.
pub(crate) fn play_batch<P: Kernel>(
    path: InstructionSet,
    kernel: &mut P,
    penalised: bool,
    batch: Batch<'_>,
    scratch: &mut P::Scratch,
) -> Result<()> {
    // The constant is tested by itself, so that the compiler leaves out the kernels that are never called.
    if P::VECTORISED {
        match penalised {
            true => path.run_up_to_avx2(PlayBatch::<P, true> { kernel, batch, scratch }),
            false => path.run(PlayBatch::<P, false> { kernel, batch, scratch }),
        }
    } else {
        match penalised {
            true => Portable.run(PlayBatch::<P, true> { kernel, batch, scratch }),
            false => Portable.run(PlayBatch::<P, false> { kernel, batch, scratch }),
        }
    }
}

/// A call of the learning kernel, as work for [`InstructionSet::run`].
struct PlayBatch<'a, P: Kernel, const PENALISED: bool> {
    kernel: &'a mut P,
    batch: Batch<'a>,
    scratch: &'a mut P::Scratch,
}

impl<P: Kernel, const PENALISED: bool> WithSimd for PlayBatch<'_, P, PENALISED> {
    type Output = Result<()>;

    #[inline(always)]
    fn call<V: Simd>(self, simd: V) -> Result<()> {
        self.kernel.play_batch::<_, PENALISED>(simd.f64x8(), self.batch, self.scratch)
    }
}

/// Predict the examples with the kernel for this machine's vector instructions.
pub(crate) fn predict<P: PlayKernel>(kernel: &P, examples: Ordered<'_>, margins: &mut Vec<f64>) {
    let path = InstructionSet::chosen().unwrap_or(InstructionSet::Portable);
    let call = PredictCall { kernel, examples, margins };
    if P::VECTORISED { path.run(call) } else { Portable.run(call) }
}

/// A call of the prediction kernel, as work for [`InstructionSet::run`].
struct PredictCall<'a, P: PlayKernel> {
    kernel: &'a P,
    examples: Ordered<'a>,
    margins: &'a mut Vec<f64>,
}

impl<P: PlayKernel> WithSimd for PredictCall<'_, P> {
    type Output = ();

    #[inline(always)]
    fn call<V: Simd>(self, simd: V) {
        self.kernel.play_each(simd.f64x8(), self.examples, self.margins);
    }
}
