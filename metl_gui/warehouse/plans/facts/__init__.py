"""Plans for facts: rows, postings, periods, and what they miss."""
