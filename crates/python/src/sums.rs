//! The sums of a learner as tuples of numbers.

use lessregret_core::{
    self as core, Certificate, LaneSummary, LaneTally, Norms, SlotSummary, StackSummary, Tally,
};

/// Rounds, features, importance, loss, mistakes, played, energy, penalty and the loss of standardised labels.
pub type TallyParts = (u64, u64, f64, f64, f64, f64, f64, f64, Option<f64>);
/// Rate, share, loss, played, energy, spread, penalty and the loss of standardised labels.
pub type Lane = (Option<f64>, f64, f64, f64, f64, Option<f64>, f64, Option<f64>);
/// Share, loss and penalty.
pub type Stack = (f64, f64, f64);
/// Spread, floor, theorem, touched, mixing cost, lanes, stack and certificate.
pub type SummaryParts = (
    Option<f64>,
    Option<f64>,
    Option<f64>,
    u64,
    Option<f64>,
    Vec<Lane>,
    Option<Stack>,
    Option<CertificateParts>,
);
/// The sum of absolutes, the length and the largest absolute.
pub type ThreeNorms = (f64, f64, f64);
/// The offset, the norms of the gradient sums and of the weights, the sum and the weight of the intercept.
pub type CertificateParts = (f64, ThreeNorms, ThreeNorms, f64, f64);

/// The sums over the rounds.
pub fn tally_parts(learner: &core::Learner) -> TallyParts {
    let Tally { rounds, features, importance, loss, mistakes, played, energy, .. } =
        *learner.model().tally();
    let Tally { penalty, standardised_loss, .. } = *learner.model().tally();
    let own = learner.space().standardises_labels().then_some(standardised_loss);
    (rounds, features, importance, loss, mistakes, played, energy, penalty, own)
}

/// The regret terms from the slots.
pub fn summary_parts(learner: &core::Learner) -> SummaryParts {
    let SlotSummary { spread, floor, theorem, certificate, touched, mixing_cost, lanes, stack } =
        learner.summary();
    let lanes = lanes.into_iter().map(|LaneSummary { rate, share, tally, spread }| {
        let LaneTally { loss, played, energy, penalty, standardised_loss } = tally;
        let own = learner.space().standardises_labels().then_some(standardised_loss);
        (rate, share, loss, played, energy, spread, penalty, own)
    });
    let of_stack = |StackSummary { share, tally }| (share, tally.loss, tally.penalty);
    let (lanes, stack) = (lanes.collect(), stack.map(of_stack));
    (spread, floor, theorem, touched, mixing_cost, lanes, stack, certificate.map(parts))
}

/// The parts of a certificate.
pub fn parts(certificate: Certificate) -> CertificateParts {
    let norms = |Norms { l1, l2, max }: Norms| (l1, l2, max);
    let Certificate { offset, sums, weights, intercept_sum, intercept_weight } = certificate;
    (offset, norms(sums), norms(weights), intercept_sum, intercept_weight)
}
