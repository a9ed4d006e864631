"""Programs that measure; what they measured stands in ``records/``."""
