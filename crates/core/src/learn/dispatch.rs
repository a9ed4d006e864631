//! Dispatch of the kernels of models: compiled for each set of vector instructions, chosen once per call.

use crate::error::{Error, Result};
use crate::example::Ordered;
use crate::learn::penalty::Penalty;
use crate::simd::f64x8::F64x8;
use crate::simd::{InstructionSet, Simd, WithSimd};
use crate::spec::Scope;

/// A model whose prediction kernel is compiled for each set of vector instructions.
pub(crate) trait PlayKernel: Sized {
    /// Compute the margin of every example and learn nothing.
    fn play_each<E: F64x8>(&self, simd: E, examples: Ordered<'_>, margins: &mut Vec<f64>);
}

/// A learner whose kernels are compiled for each set of vector instructions.
pub(crate) trait Kernel: PlayKernel {
    /// Play and absorb every example. PENALISED says that there is L2, on the features of the example.
    fn learn_each<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        examples: Ordered<'_>,
        margins: &mut Vec<f64>,
    ) -> Result<()>;

    /// Play and absorb every example with L2 on every coordinate. Compiled for the baseline instructions
    /// only.
    fn learn_whole(&mut self, examples: Ordered<'_>, margins: &mut Vec<f64>) -> Result<()>;
}

/// Learn from the examples with the kernel for this machine's vector instructions.
pub(crate) fn learn<P: Kernel>(
    kernel: &mut P,
    penalty: Penalty,
    examples: Ordered<'_>,
    margins: &mut Vec<f64>,
) -> Result<()> {
    let path = InstructionSet::chosen().map_err(Error::Spec)?;
    match penalty {
        Penalty { l2: 0.0, .. } => path.run(LearnCall::<P, false> { kernel, examples, margins }),
        Penalty { scope: Scope::Active, .. } => {
            path.run(LearnCall::<P, true> { kernel, examples, margins })
        }
        Penalty { scope: Scope::All, .. } => kernel.learn_whole(examples, margins),
    }
}

/// A call of the learning kernel, as work for [`InstructionSet::run`].
struct LearnCall<'a, P: Kernel, const PENALISED: bool> {
    kernel: &'a mut P,
    examples: Ordered<'a>,
    margins: &'a mut Vec<f64>,
}

impl<P: Kernel, const PENALISED: bool> WithSimd for LearnCall<'_, P, PENALISED> {
    type Output = Result<()>;

    #[inline(always)]
    fn call<V: Simd>(self, simd: V) -> Result<()> {
        self.kernel.learn_each::<_, PENALISED>(simd.f64x8(), self.examples, self.margins)
    }
}

/// Predict the examples with the kernel for this machine's vector instructions.
pub(crate) fn predict<P: PlayKernel>(kernel: &P, examples: Ordered<'_>, margins: &mut Vec<f64>) {
    let path = InstructionSet::chosen().unwrap_or(InstructionSet::Portable);
    path.run(PredictCall { kernel, examples, margins });
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
