"""Regret: how much more a run lost than the best fixed model.

This is the stage that sets a ledger against a comparator. ``comparator/`` encloses the least loss
of any fixed model, ``measure.py`` measures the regret of rules at ever more rounds,
``comparison.py`` runs many rules on the same examples, and ``of_predictions.py`` measures the
regret of predictions that any learner made.
"""
