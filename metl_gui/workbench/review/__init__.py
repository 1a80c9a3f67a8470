"""The review list: decisions, assignments, answer sheets, and how far a review is."""
