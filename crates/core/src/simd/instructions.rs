//! The vector instructions of the fast readers and the learners: the machine's best, chosen once.
//!
//! | path     | needs          | bytes compared at once |
//! | -------- | -------------- | ---------------------- |
//! | avx512   | AVX-512 BW     | 64                     |
//! | avx2     | AVX2 and BMI   | 32                     |
//! | portable | nothing        | 8                      |
//!
//! All paths find the same separators, and learners are bit-identical on all of them: the compiler never
//! fuses a multiplication and an addition into an FMA, which rounds once. `LESSREGRET_SIMD=portable` (or
//! another path's name) selects that path, to measure or to test it. An unknown name, or a path that this
//! machine does not have, is an error.
//!
//! Cost: the CPU features and the environment are queried once per process.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m256i;
use std::env;
use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
use pulp::{
    NullaryFnOnce,
    bytemuck::cast,
    x86::{V3, V4},
};

use crate::simd::f64x8::F64x8;
use crate::simd::murmur8::Names8;
#[cfg(target_arch = "x86_64")]
use crate::simd::pairs4::avx2;
use crate::simd::pairs4::{Pairs4, SEPARATORS};

/// The environment variable that selects a path by its name.
const VARIABLE: &str = "LESSREGRET_SIMD";

/// The number of bytes compared together; each gives one bit of a word.
pub const GROUP: usize = 64;

/// A set of vector instructions.
pub trait Simd: Copy {
    /// The type of its operations on eight float64.
    type F64x8: F64x8;

    /// The operations of these instructions on eight float64.
    fn f64x8(self) -> Self::F64x8;

    /// A mask whose bit k is set if byte k is at most `low`, which is below 128, or one of `also`.
    fn separators(self, bytes: &[u8; GROUP], low: u8, also: [u8; 2]) -> u64;

    /// Hash eight names to slots. Returns the entry of `slots` for a name whose slot is known.
    fn slots(self, names: &Names8, mask: u32, slots: [u32; 8]) -> [u32; 8];

    /// Parse the four features between these separators, if they are pairs of an integer and a fraction.
    /// Always `None` on the portable path.
    fn pairs4(self, text: &[u8], separators: &[u32; SEPARATORS]) -> Option<Pairs4>;

    /// Run work that is compiled for these instructions.
    fn run<W: WithSimd>(self, work: W) -> W::Output;
}

/// Work that is compiled for each set of vector instructions, with everything it calls inlined. A trait,
/// because a closure cannot be marked `inline(always)`.
pub trait WithSimd {
    /// The result of the work.
    type Output;

    /// Do the work. Must be `inline(always)`.
    fn call<V: Simd>(self, simd: V) -> Self::Output;
}

/// Work and its instructions, in the form that [`pulp`] requires.
#[cfg(target_arch = "x86_64")]
struct With<V, W>(V, W);

#[cfg(target_arch = "x86_64")]
impl<V: Simd, W: WithSimd> NullaryFnOnce for With<V, W> {
    type Output = W::Output;

    #[inline(always)]
    fn call(self) -> W::Output {
        self.1.call(self.0)
    }
}

/// A set of vector instructions that this machine has.
#[derive(Clone, Copy, Debug)]
pub enum InstructionSet {
    /// 64 bytes at once.
    #[cfg(target_arch = "x86_64")]
    Avx512(V4),
    /// 32 bytes at once.
    #[cfg(target_arch = "x86_64")]
    Avx2(V3),
    /// Eight bytes at once, in an ordinary register.
    Portable,
}

impl InstructionSet {
    /// The path of this process, or the error for the one that was requested.
    pub fn chosen() -> Result<InstructionSet, String> {
        static CHOSEN: OnceLock<Result<InstructionSet, String>> = OnceLock::new();
        CHOSEN.get_or_init(|| InstructionSet::asked(env::var(VARIABLE).ok().as_deref())).clone()
    }

    /// The path with this name, or the best one without a name.
    fn asked(name: Option<&str>) -> Result<InstructionSet, String> {
        let available = InstructionSet::available();
        let found = available.iter().find(|path| name.is_none_or(|name| path.name() == name));
        found.copied().ok_or_else(|| {
            let names: Vec<_> = available.iter().map(|path| path.name()).collect();
            let name = name.unwrap_or_default();
            format!("{VARIABLE} must be one of {} on this machine, not '{name}'", names.join(", "))
        })
    }

    /// The paths that this machine has, the best first.
    pub fn available() -> Vec<InstructionSet> {
        let mut paths = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            paths.extend(V4::try_new().map(InstructionSet::Avx512));
            paths.extend(V3::try_new().map(InstructionSet::Avx2));
        }
        paths.push(InstructionSet::Portable);
        paths
    }

    /// Dispatch: run work that is compiled for the instructions of this path.
    pub fn run<W: WithSimd>(self, work: W) -> W::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512(simd) => simd.run(work),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2(simd) => simd.run(work),
            InstructionSet::Portable => Portable.run(work),
        }
    }

    /// This path, or AVX2 in place of AVX-512: for work that is rare, so that it is compiled twice and not three times.
    pub fn run_up_to_avx2<W: WithSimd>(self, work: W) -> W::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512(simd) => Simd::run(*simd, work),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2(simd) => simd.run(work),
            InstructionSet::Portable => Portable.run(work),
        }
    }

    fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2(_) => "avx2",
            InstructionSet::Portable => "portable",
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Simd for V4 {
    type F64x8 = V4;

    #[inline(always)]
    fn f64x8(self) -> V4 {
        self
    }

    #[inline(always)]
    fn slots(self, names: &Names8, mask: u32, slots: [u32; 8]) -> [u32; 8] {
        names.slots_at_once(*self, mask, slots)
    }

    #[inline(always)]
    fn pairs4(self, text: &[u8], separators: &[u32; SEPARATORS]) -> Option<Pairs4> {
        avx2::read(*self, text, separators)
    }

    #[inline(always)]
    fn separators(self, bytes: &[u8; GROUP], low: u8, also: [u8; 2]) -> u64 {
        // No closures here: they would be compiled for the baseline, and every instruction would be a call.
        let bytes = cast(*bytes);
        let low = self.avx512f._mm512_set1_epi8(low as i8);
        let [one, other] = also;
        let one = self.avx512f._mm512_set1_epi8(one as i8);
        let other = self.avx512f._mm512_set1_epi8(other as i8);
        self.avx512bw._mm512_cmple_epu8_mask(bytes, low)
            | self.avx512bw._mm512_cmpeq_epi8_mask(bytes, one)
            | self.avx512bw._mm512_cmpeq_epi8_mask(bytes, other)
    }

    #[inline(always)]
    fn run<W: WithSimd>(self, work: W) -> W::Output {
        self.vectorize(With(self, work))
    }
}

#[cfg(target_arch = "x86_64")]
impl Simd for V3 {
    type F64x8 = V3;

    #[inline(always)]
    fn f64x8(self) -> V3 {
        self
    }

    #[inline(always)]
    fn slots(self, names: &Names8, mask: u32, slots: [u32; 8]) -> [u32; 8] {
        names.slots_at_once(self, mask, slots)
    }

    #[inline(always)]
    fn pairs4(self, text: &[u8], separators: &[u32; SEPARATORS]) -> Option<Pairs4> {
        avx2::read(self, text, separators)
    }

    #[inline(always)]
    fn separators(self, bytes: &[u8; GROUP], low: u8, also: [u8; 2]) -> u64 {
        let [first, second] = cast(*bytes);
        u64::from(half_separators(self, first, low, also))
            | u64::from(half_separators(self, second, low, also)) << 32
    }

    #[inline(always)]
    fn run<W: WithSimd>(self, work: W) -> W::Output {
        self.vectorize(With(self, work))
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn half_separators(simd: V3, bytes: __m256i, low: u8, also: [u8; 2]) -> u32 {
    let [one, other] = also;
    let low = simd.avx._mm256_set1_epi8(low as i8);
    let low = simd.avx2._mm256_cmpeq_epi8(simd.avx2._mm256_min_epu8(bytes, low), bytes);
    let one = simd.avx2._mm256_cmpeq_epi8(bytes, simd.avx._mm256_set1_epi8(one as i8));
    let other = simd.avx2._mm256_cmpeq_epi8(bytes, simd.avx._mm256_set1_epi8(other as i8));
    let any = simd.avx2._mm256_or_si256(low, simd.avx2._mm256_or_si256(one, other));
    simd.avx2._mm256_movemask_epi8(any) as u32
}

/// The portable path, in ordinary registers.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Simd for Portable {
    type F64x8 = Portable;

    #[inline(always)]
    fn f64x8(self) -> Portable {
        self
    }

    #[inline(always)]
    fn slots(self, names: &Names8, mask: u32, slots: [u32; 8]) -> [u32; 8] {
        names.slots(mask, slots)
    }

    #[inline(always)]
    fn pairs4(self, _text: &[u8], _marks: &[u32; SEPARATORS]) -> Option<Pairs4> {
        None
    }

    #[inline(always)]
    fn separators(self, bytes: &[u8; GROUP], low: u8, also: [u8; 2]) -> u64 {
        let (simd, _) = bytes.as_chunks::<8>();
        simd.iter().rev().fold(0, |separators, eight| {
            let word = u64::from_le_bytes(*eight);
            separators << 8
                | one_a_byte(not_above(word, low) | equal(word, also[0]) | equal(word, also[1]))
        })
    }

    #[inline(always)]
    fn run<W: WithSimd>(self, work: W) -> W::Output {
        work.call(self)
    }
}

const HIGH: u64 = every(0x80);

const fn every(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}

/// The high bit of every byte that is at most `low`.
#[inline(always)]
fn not_above(word: u64, low: u8) -> u64 {
    // With the high bits set, no byte borrows from the next one.
    let above = (word | HIGH) - every(low + 1);
    !(above | word) & HIGH
}

/// The high bit of every byte that equals `byte`.
#[inline(always)]
fn equal(word: u64, byte: u8) -> u64 {
    let different = word ^ every(byte);
    // Without the high bits, no byte carries into the next one.
    !(((different & !HIGH) + !HIGH) | different) & HIGH
}

/// The high bits of the bytes, packed into the lowest bits.
#[inline(always)]
fn one_a_byte(high: u64) -> u64 {
    (high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naive(bytes: &[u8; GROUP], low: u8, also: [u8; 2]) -> u64 {
        let separated = |k: &usize| bytes[*k] <= low || also.contains(&bytes[*k]);
        (0..GROUP).filter(separated).map(|k| 1 << k).sum()
    }

    fn separators(path: InstructionSet, bytes: &[u8; GROUP], low: u8, also: [u8; 2]) -> u64 {
        match path {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512(simd) => simd.separators(bytes, low, also),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2(simd) => simd.separators(bytes, low, also),
            InstructionSet::Portable => Portable.separators(bytes, low, also),
        }
    }

    #[test]
    fn every_byte_at_every_place_is_judged_alike() {
        for path in InstructionSet::available() {
            for byte in 0..=u8::MAX {
                for place in 0..GROUP {
                    for ground in [b'x', 0x00, 0xff, b':', 0x80] {
                        let mut bytes = [ground; GROUP];
                        bytes[place] = byte;
                        let also = [b':', b'|'];
                        for low in [b' ', 0x1f] {
                            let found = separators(path, &bytes, low, also);
                            assert_eq!(found, naive(&bytes, low, also), "{path:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn random_bytes_are_judged_alike() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            let bytes = [(); GROUP].map(|()| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            });
            for path in InstructionSet::available() {
                let also = [b':', b'#'];
                assert_eq!(
                    separators(path, &bytes, b' ', also),
                    naive(&bytes, b' ', also),
                    "{path:?} {bytes:?}"
                );
            }
        }
    }

    #[test]
    fn a_path_is_asked_for_by_name() {
        assert_eq!(
            InstructionSet::asked(Some("portable")).map(InstructionSet::name),
            Ok("portable")
        );
        assert_eq!(
            InstructionSet::asked(None).map(InstructionSet::name),
            Ok(InstructionSet::available()[0].name())
        );
        let told = InstructionSet::asked(Some("sse9")).unwrap_err();
        assert!(told.starts_with("LESSREGRET_SIMD must be one of "), "{told}");
        assert!(told.ends_with("portable on this machine, not 'sse9'"), "{told}");
    }
}
