//! The mixture of one learner, from the mixtures of shards that went on from a start.
//!
//! ```text
//! one goes on           L_k = L_k,0 + Σ_s ΔL_k,s               without a fixed share
//!                       π_k ∝ π_k,0 Π_s (π_k,s/π_k,0)          with one
//! P shards go on        every Δ, and every exponent, is divided by P
//! ```
//!
//! With the whole sum, each of P shards would react to a loss as if it had suffered it P times, and mixing could
//! cost more than ln K, whatever the number of rounds. Divided by P it costs all shards together at most P ln K
//! for log loss: −ln Σ π_k exp(−L_k) is concave in L, so the mean of the shards' mix losses is at most the mix loss
//! of their mean. With a fixed share the mean of ln π_k is at most ln of the merged π_k, because a geometric mean
//! is at most the arithmetic one, and the cost is P ln K + A.
//!
//! What the division leaves out is held back and counts when one learner goes on. A fixed share forgets old losses
//! anyway, so nothing is held back with one. Δ, by which η falls, is divided as the losses are. H is a maximum,
//! `[A, B]` a range, and the costs A and C are sums.

use serde::{Deserialize, Serialize};

use super::{Mixture, Standing};
use crate::learn::lanes::experts::{EXPERTS, PerExpert};
use crate::loss::Loss;
use crate::rule::merging::{merged_sum, only_moved};

/// Losses that merging held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Held {
    losses: PerExpert,
    surplus: f64,
}

impl Mixture {
    /// The mixture of one learner, which so many players go on from.
    pub fn merged(start: &Mixture, shards: &[Mixture], players: u32, loss: Loss) -> Mixture {
        if let (Some(only), 1, None) = (only_moved(start, shards), players, start.held) {
            return *only;
        }
        let sum = |field: fn(&Mixture) -> f64| merged_sum(field(start), shards.iter().map(field));
        let heaviest = shards.iter().fold(start.heaviest, |most, shard| most.max(shard.heaviest));
        let labels = shards.iter().fold(start.labels, |range, shard| union(range, shard.labels));
        let (sharing, clipping) = (sum(|shard| shard.sharing), sum(|shard| shard.clipping));
        let (part, held) = (1.0 / f64::from(players), start.held.unwrap_or_default());
        let gain = sum(|shard| shard.surplus) - start.surplus;
        let mut merged = Mixture { heaviest, labels, sharing, clipping, ..*start };
        merged.surplus = start.surplus + gain * part;
        let mut left = Held { surplus: held.surplus + gain * (1.0 - part), ..held };
        if players == 1 {
            merged.surplus += std::mem::take(&mut left.surplus);
        }
        merged.standing = match start.standing {
            Standing::Losses { losses } => {
                let mut losses = losses;
                for expert in 0..EXPERTS {
                    let own = |shard: &Mixture| shard.standing.losses()[expert];
                    let gain = merged_sum(losses[expert], shards.iter().map(own)) - losses[expert];
                    losses[expert] += gain * part;
                    left.losses[expert] += gain * (1.0 - part);
                    if players == 1 {
                        losses[expert] += std::mem::take(&mut left.losses[expert]);
                    }
                }
                Standing::Losses { losses }
            }
            Standing::Shares { .. } => {
                let all: Vec<_> = shards.iter().map(|shard| shard.standing).collect();
                Standing::product(&start.standing, &all, part, merged.rate(loss))
            }
        };
        merged.held = (left != Held::default()).then_some(left);
        merged
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
    fn shares_merge_as_products() {
        let (start, mut losses) = (Mixture::new(1e-9), [1.0; EXPERTS]);
        losses[2] = 3.0;
        let shards = [after(start, losses, 1e-9), after(start, losses, 1e-9)];
        let alone = after(after(start, losses, 1e-9), losses, 1e-9);
        for (players, like) in [(1, alone), (2, shards[0])] {
            let merged = Mixture::merged(&start, &shards, players, LOSS);
            for (one, other) in merged.shares(LOSS).into_iter().zip(like.shares(LOSS)) {
                assert!((one - other).abs() < 1e-7, "{one} {other}");
            }
        }
        assert_eq!(Mixture::merged(&start, &[shards[0], start], 1, LOSS), shards[0]);
    }
}
