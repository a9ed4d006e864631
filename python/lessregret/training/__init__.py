"""Training: what is kept of a run while a learner goes through its data.

This is the stage between outcomes and reports. A recorder takes the ledger at a few rounds and
keeps a curve of the losses and the calibration of the probabilities. ``metrics.py`` scores
predictions after a run. All of it takes constant memory, however long the run is.
"""
