"""The online convex game: feasible sets, losses of rounds, problems, algorithms and transcripts.

The game is the theory that learners rest on, in float64 and for any convex loss. It takes no data:
a problem names the loss of each round, an algorithm plays points, and ``play.py`` writes a
transcript that knows its regret. The re-run claims of the paper are built on it.
"""
