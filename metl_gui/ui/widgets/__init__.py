"""Generic widgets, models and delegates, which know nothing of mapping."""
