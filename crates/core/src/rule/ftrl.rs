//! FTRL-Proximal with per-coordinate rates.
//!
//! ```text
//! Plays     argmin over [a, b] of  G·w + ½ Σ σ_s (w − w_s)² + ½ (offset/rate) w² + λ₁|w| + ½ λ₂ w²
//! Slot      z, n            z = G − Σ σ_s w_s,  n = Σ g²,  σ_s = (√n_s − √n_{s−1})/rate
//! Regret    Σ_i [ r_0 + D_i²√n/(2 rate) + ½ Σ g²/((offset + √n)/rate + λ₂) ]
//!           with r_0 = max(a², b²)(offset/rate + λ₂)/2 + max(|a|, |b|) λ₁: McMahan 2017, Theorem 2
//! Source    McMahan et al. 2013, Algorithm 1
//! Departs   nowhere; the box is exact, since in one dimension the argmin is clipped
//! ```

use serde::{Deserialize, Serialize};

use super::{
    Dither, Ends, Heavy, Interval, Merges, Merging, NewUnit, Parameters, RateSpec, Rule, Step,
    interval, narrowed, narrowed_sum, not_negative, slot, square,
};
use crate::error::Result;

slot! {
    /// The two sums z and n.
    Slot {
        /// z = Σ g − Σ σ w
        z,
        /// n = Σ g²
        n
    }
}

/// FTRL-Proximal.
#[derive(Clone, Copy, Debug)]
pub struct Ftrl {
    /// α, the rate.
    pub rate: f32,
    /// β, the offset.
    pub offset: f32,
    /// λ₁, the strength of L1.
    pub l1: f32,
    /// λ₂, the strength of L2.
    pub l2: f32,
    /// `[a, b]`, the feasible interval.
    pub interval: Interval,
}

impl Ftrl {
    /// The slot that plays this weight with this n. A weight of 0 has many; the one with z = 0 is taken.
    fn playing(&self, weight: f64, n: f64) -> Slot {
        let slot = Slot { z: 0.0, n: narrowed_sum(n) };
        let size = weight.abs() * f64::from(self.inverse_rate(&slot)) + f64::from(self.l1);
        let z = if weight == 0.0 { 0.0 } else { -size.copysign(weight) };
        Slot { z: narrowed(z, Interval::EVERYWHERE), ..slot }
    }

    /// 1/η = (β + √n)/α + λ₂.
    #[inline]
    fn inverse_rate(&self, slot: &Slot) -> f32 {
        (self.offset + slot.n.sqrt()) / self.rate + self.l2
    }
}

/// The parameters of [`Ftrl`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FtrlParameters {
    /// The rate: a number or "auto".
    pub rate: RateSpec,
    /// β, the offset.
    pub offset: f64,
    /// λ₁, the strength of L1.
    pub l1: f64,
    /// λ₂, the strength of L2.
    pub l2: f64,
    /// R of the box `[-R, R]`.
    pub radius: f64,
    /// A box `[a, b]` to use instead of the radius.
    pub r#box: Ends,
}

impl Parameters for FtrlParameters {
    type Rule = Ftrl;
    const CAN_BE_AUTO: bool = true;

    fn rule(&self) -> Result<Ftrl> {
        let interval = interval(self.radius, self.r#box)?;
        Ok(Ftrl {
            rate: self.rate.number()?,
            offset: not_negative("offset", self.offset)? as f32,
            l1: not_negative("l1", self.l1)? as f32,
            l2: not_negative("l2", self.l2)? as f32,
            interval,
        })
    }

    fn is_auto(&self) -> bool {
        self.rate.is_auto()
    }
}

impl Rule for Ftrl {
    type Slot = Slot;
    type Shared = ();
    const IS_COMMON: bool = true;
    const MERGES: Merges = Merges::Always;

    fn interval(&self) -> Interval {
        self.interval
    }

    fn within(self, interval: Interval) -> Self {
        Ftrl { interval, ..self }
    }

    #[inline]
    fn at(self, rate: f32) -> Self {
        Ftrl { rate, ..self }
    }

    #[inline]
    fn weight(&self, slot: &Slot, _value: f32) -> f32 {
        let shrunk = slot.z - self.l1.copysign(slot.z);
        let weight = -shrunk / self.inverse_rate(slot);
        // 0 also if z is 0 and nothing was learned yet, because 0/0 is NaN.
        self.interval.clip(if slot.z.abs() > self.l1 { weight } else { 0.0 })
    }

    #[inline]
    fn absorb(
        &self,
        slot: &mut Slot,
        value: f32,
        gradient: f32,
        _step: Step,
        dither: Dither,
    ) -> f32 {
        let weight = self.weight(slot, value);
        let square = square(gradient);
        let n = dither.grow(slot.n, square);
        // (√n − √n_before)/rate, in a form without cancellation in float32.
        let sigma = square / ((n.sqrt() + slot.n.sqrt()) * self.rate);
        let z = Interval::EVERYWHERE.clip(dither.add(slot.z, gradient - sigma * weight));
        // A lane may have no gradient when other lanes do. No early return: only branchless code is
        // vectorised over the lanes.
        let (z, n) = if gradient != 0.0 { (z, n) } else { (slot.z, slot.n) };
        *slot = Slot { z, n };
        let inverse = self.inverse_rate(slot);
        if inverse > 0.0 { 1.0 / inverse } else { 0.0 }
    }

    fn spread(&self, slot: &Slot, _step: Step) -> f64 {
        let Interval { low, high } = self.interval;
        let farthest = f64::from(low.abs().max(high.abs()));
        let [rate, offset, l1, l2] = [self.rate, self.offset, self.l1, self.l2].map(f64::from);
        let start = farthest * farthest * (offset / rate + l2) / 2.0 + farthest * l1;
        start + self.interval.width().powi(2) * f64::from(slot.n).sqrt() / (2.0 * rate)
    }

    fn merge(&self, start: &Slot, shards: &[Slot], merging: &Merging) -> Slot {
        let heavy =
            |slot: &Slot| Heavy { weight: self.weight(slot, 1.0).into(), energy: slot.n.into() };
        let shards: Vec<_> = shards.iter().map(heavy).collect();
        let Heavy { weight, energy } = merging.heavy(heavy(start), &shards, self.rate.into());
        self.playing(narrowed(weight, self.interval).into(), energy)
    }

    fn in_unit(&self, slot: &Slot, unit: NewUnit) -> Slot {
        let weight = f64::from(self.weight(slot, 1.0)) * unit.weight;
        self.playing(weight, f64::from(slot.n) * unit.gradient.powi(2))
    }
}
