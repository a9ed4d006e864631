//! Dispatch of the kernels of models: compiled for each set of vector instructions, called once per batch.
//!
//! Kernels that are rare are compiled for fewer sets, because each is compiled for every rule, and that is most of the
//! time that a build takes: with L2, and of rules that have no rate "auto", not for AVX-512; with a box for each coordinate
//! without vector instructions only. What that costs such learners was not measured. No bit depends on it.

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

    /// Whether the kernels are compiled for AVX-512, too.
    const WIDEST: bool = true;
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
    match penalised {
        true => run::<P, false, _>(path, PlayBatch::<P, true> { kernel, batch, scratch }),
        false => run::<P, true, _>(path, PlayBatch::<P, false> { kernel, batch, scratch }),
    }
}

/// Run a call of a kernel with the instructions that it is compiled for; WIDEST says whether it is a call that deserves
/// AVX-512.
fn run<P: PlayKernel, const WIDEST: bool, W: WithSimd>(path: InstructionSet, call: W) -> W::Output {
    // All are constants, so the compiler leaves out the kernels that are never called.
    if P::VECTORISED && P::WIDEST && WIDEST {
        return path.run(call);
    }
    if P::VECTORISED {
        return path.run_up_to_avx2(call);
    }
    Portable.run(call)
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
    run::<P, true, _>(path, PredictCall { kernel, examples, margins });
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
