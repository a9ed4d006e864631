"""Learners: they predict an example before they learn from it.

This is the stage between examples and outcomes. A learner takes examples, keeps a slot for each
feature, and hands an outcome of every round to the ledger. Rules and losses are here, each readable
twin in a file of its own; so are scales, penalties, importances, the mixture of lanes, and model
files. ``learner.py`` runs the Rust core and ``readable.py`` runs the Python twins.
"""
