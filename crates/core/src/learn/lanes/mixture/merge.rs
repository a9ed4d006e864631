//! The mixture of one learner, from the mixtures of shards that went on from a start.
//!
//! ```text
//! L_k = L_k,0 + Σ_s ΔL_k,s               without a fixed share; divided by P if P shards go on
//! π_k ∝ π_k,0 Π_s (π_k,s/π_k,0)^(1/Q)    with one; Q = max(P, the number of shards that moved)
//! ```
//!
//! With the whole sum, each of P shards would react to a loss as if it had suffered it P times, and mixing could
//! cost more than ln K, whatever the number of rounds. Divided by P it costs all shards together at most P ln K
//! for log loss: −ln Σ π_k exp(−L_k) is concave in L, so the mean of the shards' mix losses is at most the mix loss
//! of their mean. With a fixed share the mean of ln π_k is at most ln of the merged π_k, because a geometric mean
//! is at most the arithmetic one, and the cost is P ln K + A.
//!
//! What the division leaves out is held back and counts when one learner goes on. With a fixed share nothing is held
//! back, and shares are always averaged, also if one learner goes on: the fixed share lifts a share at the floor in
//! every shard, and a product would take K such lifts for evidence. Δ, by which η falls, is divided as the losses are. H is a maximum,
//! `[A, B]` a range, and the costs A and C are sums.

use serde::{Deserialize, Serialize};

use super::{Mixture, Standing};
use crate::learn::lanes::experts::PerExpert;
use crate::loss::Loss;
use crate::rule::merging::{merged_sum, only_moved};

/// Losses that merging held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Held {
    losses: PerExpert,
    surplus: f64,
}

impl Held {
    fn is_nothing(&self) -> bool {
        *self == Held::default()
    }
}

impl Mixture {
    /// The mixture of one learner, which so many players go on from.
    pub fn merged(start: &Mixture, shards: &[Mixture], players: u32, loss: Loss) -> Mixture {
        if let (Some(only), 1, None) = (only_moved(start, shards), players, start.held) {
            return *only;
        }
        let sum = |field: fn(&Mixture) -> f64| merged_sum(field(start), shards.iter().map(field));
        let mut merged = Mixture {
            heaviest: shards.iter().fold(start.heaviest, |most, shard| most.max(shard.heaviest)),
            labels: shards.iter().fold(start.labels, |range, shard| union(range, shard.labels)),
            sharing: sum(|shard| shard.sharing),
            clipping: sum(|shard| shard.clipping),
            ..*start
        };
        let mut held = start.held.unwrap_or_default();
        let gain = sum(|shard| shard.surplus) - start.surplus;
        add_part(&mut merged.surplus, &mut held.surplus, gain, players);
        if let Standing::Losses { losses } = &mut merged.standing {
            for (expert, (loss, held)) in losses.iter_mut().zip(&mut held.losses).enumerate() {
                let own = |shard: &Mixture| shard.standing.losses()[expert];
                let gain = merged_sum(*loss, shards.iter().map(own)) - *loss;
                add_part(loss, held, gain, players);
            }
        } else {
            let all: Vec<_> = shards.iter().map(|shard| shard.standing).collect();
            let moved = all.iter().filter(|&own| *own != start.standing).count();
            let part = 1.0 / f64::from(players).max(moved as f64);
            merged.standing = Standing::product(&start.standing, &all, part, merged.rate(loss));
        }
        merged.held = (!held.is_nothing()).then_some(held);
        merged
    }
}

/// Add the part of a gain that counts for one of so many players and hold back the rest; one player gets all.
fn add_part(sum: &mut f64, held: &mut f64, gain: f64, players: u32) {
    if players == 1 {
        *sum += gain + std::mem::take(held);
    } else {
        let part = 1.0 / f64::from(players);
        *sum += gain * part;
        *held += gain * (1.0 - part);
    }
}

fn union(one: Option<[f64; 2]>, other: Option<[f64; 2]>) -> Option<[f64; 2]> {
    match (one, other) {
        (Some([low, high]), Some([least, most])) => Some([low.min(least), high.max(most)]),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::lanes::experts::EXPERTS;

    const LOSS: Loss = Loss::Logistic;

    fn after(start: Mixture, losses: PerExpert, fixed_share: f64) -> Mixture {
        let mut mixture = start;
        mixture.absorb(LOSS, &losses, 0.0, 1.0, fixed_share, false);
        mixture
    }

    #[test]
    fn what_is_held_back_counts_when_one_learner_goes_on() {
        let (start, mut losses) = (Mixture::new(0.0), [1.0; EXPERTS]);
        losses[2] = 3.0;
        let shards = [after(start, losses, 0.0), after(start, losses, 0.0)];
        let playing = Mixture::merged(&start, &shards, 2, LOSS);
        assert_eq!(playing.standing, Standing::Losses { losses });
        let next = [after(playing, losses, 0.0), after(playing, losses, 0.0)];
        let last = Mixture::merged(&playing, &next, 1, LOSS);
        assert_eq!(last.standing, Standing::Losses { losses: losses.map(|loss| 4.0 * loss) });
        assert_eq!(last.held, None);
    }

    #[test]
    fn shares_merge_as_geometric_means() {
        let (start, mut losses) = (Mixture::new(1e-9), [1.0; EXPERTS]);
        losses[2] = 3.0;
        let shards = [after(start, losses, 1e-9), after(start, losses, 1e-9)];
        for players in [1, 2] {
            let merged = Mixture::merged(&start, &shards, players, LOSS);
            for (one, other) in merged.shares(LOSS).into_iter().zip(shards[0].shares(LOSS)) {
                assert!((one - other).abs() < 1e-7, "{one} {other}");
            }
        }
        assert_eq!(Mixture::merged(&start, &[shards[0], start], 1, LOSS), shards[0]);
    }
}
