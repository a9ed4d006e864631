"""The ledger of a run: its losses, what is certified of fixed weights, bounds on its regret."""

from lessregret.ledger.certificate import (
    HALF,
    SHAPES,
    Certificate,
    Norms,
    Shape,
    Statement,
    check_shape,
)
from lessregret.ledger.lanes import Lane, SlotSummary, StackOfLanes
from lessregret.ledger.ledger import LABELS_AS_GIVEN, STANDARDISED_LABELS, VARIANCES, Ledger
from lessregret.ledger.tally import Outcome, Tally

__all__ = [
    "HALF",
    "LABELS_AS_GIVEN",
    "SHAPES",
    "STANDARDISED_LABELS",
    "VARIANCES",
    "Certificate",
    "Lane",
    "Ledger",
    "Norms",
    "Outcome",
    "Shape",
    "SlotSummary",
    "StackOfLanes",
    "Statement",
    "Tally",
    "check_shape",
]
