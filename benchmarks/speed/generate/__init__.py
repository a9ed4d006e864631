"""The data sets: seeded, the same bytes everywhere, in blocks that do not depend on each other."""
