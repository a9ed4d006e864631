"""What ``train`` prints at the end: how good the predictions were, what is certified, how fast.

A number stands beside what it is to be compared with: that of the best constant prediction, which
uses no features, and that of the last tenth of the run, when most was learned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lessregret.ledger import STANDARDISED_LABELS
from lessregret.report.wording import certified_in_words, counted, number
from lessregret.training.class_scores import TOLD, ClassScores
from lessregret.training.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lessregret.ledger import Ledger
    from lessregret.training.progressive import RunMetrics
    from lessregret.training.run import Training


def train_answer(training: Training, written: Mapping[str, str | None]) -> str:
    """The answer, a line for each number; ``written`` are the files by what they hold."""
    ledger = training.ledger
    lines = {
        "mean loss": _loss(training),
        "mean penalty": _penalty(training),
        **_scores(training.metrics, ledger),
        "scaled loss": _scaled_loss(ledger),
        "certified": None if ledger.statement is None else certified_in_words(ledger),
        "regret": _regret(ledger),
        "skipped": _skipped(training),
        "speed": f"{training.examples_per_second:,.0f} examples a second",
        **written,
    }
    head = f"{counted(ledger.rounds, 'example')}, {ledger.summary.touched:,} slots touched"
    if training.learner.classes is not None:
        head += f", {len(training.learner.classes):,} classes"
    told = [f"{name:<14} {said}" for name, said in lines.items() if said is not None]
    return "\n".join([head, *told])


def _loss(training: Training) -> str:
    ledger, metrics = training.ledger, training.metrics
    parts = [number(ledger.mean_loss, 6)]
    if metrics is not None:
        if metrics.all.sums.examples < ledger.rounds and training.resumed:
            parts.append(f"this run {number(metrics.all.mean_loss, 6)}")
        if metrics.all.constant_loss is not None:
            parts.append(f"best constant {number(metrics.all.constant_loss, 6)}")
        if metrics.last_tenth is not None:
            parts.append(f"last tenth {number(metrics.last_tenth.mean_loss, 6)}")
    return ", ".join(parts)


def _scaled_loss(ledger: Ledger) -> str | None:
    """The loss of the game that the regret is of, if that is on standardised labels."""
    if ledger.tally.standardised_loss is None:
        return None
    loss = number(ledger.mean(ledger.tally.standardised_loss), 6)
    return f"{loss} {ledger.units} up to each example; regret is of this loss"


def _penalty(training: Training) -> str | None:
    has_penalty = bool(training.learner.spec["l2"])
    return number(training.ledger.mean_penalty, 6) if has_penalty else None


def _scores(metrics: RunMetrics | None, ledger: Ledger) -> dict[str, str | None]:
    """The scores of the run; those that are not defined are left out."""
    if metrics is None:
        rate = ledger.mistake_rate
        return {"mistakes": None if rate is None else f"{rate:.4%}"}
    scores, late = metrics.all, metrics.last_tenth
    if isinstance(scores, ClassScores):
        return _class_scores(scores, late)
    assert late is None or isinstance(late, Scores)
    if "r2" in scores.names:
        return {"R²": _beside(_r2(scores), late and _r2(late)), "error": _errors(scores)}
    return {"AUC": _beside(_auc(scores), late and _auc(late)), "mistakes": _mistakes(scores)}


def _class_scores(scores: ClassScores, late: Any) -> dict[str, str | None]:
    """Mistakes, the top-k accuracies and the pair of classes that was confused most."""
    if scores.error is None or scores.constant_error is None:
        return {}
    mistakes = _beside(f"{scores.error:.4%}", late and f"{late.error:.4%}")
    tops = [f"{scores.top(k):.2%} among the {k} likeliest" for k in TOLD if k < len(scores.classes)]
    worst = [f"{pair.label} as {pair.predicted}" for pair in scores.mistakes(3)]
    return {
        "mistakes": f"{mistakes}, one label for all {scores.constant_error:.4%}",
        "accuracy": ", ".join([f"{scores.accuracy:.2%}", *tops]),
        "confused": ", ".join(worst) or None,
    }


def _beside(all_rounds: str | None, last_tenth: str | None) -> str | None:
    if all_rounds is None or last_tenth is None:
        return all_rounds
    return f"{all_rounds}, last tenth {last_tenth}"


def _auc(scores: Scores) -> str | None:
    if scores.auc is None or scores.auc_error is None:
        return None
    # Four digits are right, unless very many margins are closer to each other than a cell is wide.
    unsure = f" ± {scores.auc_error:.1g}" if scores.auc_error > 1e-4 else ""
    return f"{scores.auc:.4f}{unsure}"


def _r2(scores: Scores) -> str | None:
    return None if scores.r2 is None else f"{scores.r2:.4f}"


def _errors(scores: Scores) -> str | None:
    if scores.rmse is None:
        return None
    return f"RMSE {number(scores.rmse, 6)}, MAE {number(scores.mae, 6)}"


def _mistakes(scores: Scores) -> str | None:
    if scores.error is None or scores.constant_error is None:
        return None
    return f"{scores.error:.4%}, one label for all {scores.constant_error:.4%}"


def _regret(ledger: Ledger) -> str | None:
    """The bound that the paper proves.

    No loss is negative, so no regret is above the loss: a larger bound would say nothing.
    """
    if ledger.bound is None or ledger.bound >= ledger.total:
        return None
    plain = ledger.tally.importance == ledger.rounds
    unit = "a round" if plain else "per unit of importance"
    game = f", {ledger.units}" if ledger.game == STANDARDISED_LABELS else ""
    bound = number(ledger.mean(ledger.bound), 6)
    return f"at most {bound} {unit}{game}, proved for weights in the box"


def _skipped(training: Training) -> str | None:
    if not training.ledger.skipped:
        return None
    first = f"; the first: {training.first_skipped}" if training.first_skipped else ""
    return f"{counted(training.ledger.skipped, 'bad line')}{first}"
