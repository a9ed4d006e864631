"""How fast lessregret is beside others, and how well it learns in that time.

    python -m benchmarks.speed --help

Three seeded data sets (``generate/``) are written once into a cache folder. Contestants
(``contestants.py``) are processes of their own, so that starting up counts and processor time and
peak memory are theirs alone (``process.py``). They take turns, then the next repetition begins
(``rounds.py``): a machine that slows down slows all of them.

This package's own process imports nothing beyond the standard library: what it holds in memory
would count as its children's peak.
"""
