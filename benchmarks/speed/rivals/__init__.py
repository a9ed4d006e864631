"""The rivals: one script each, run with the pinned environment, which has no lessregret.

All take the same arguments (``task.py``) and read text in the way their own documentation shows.
"""
