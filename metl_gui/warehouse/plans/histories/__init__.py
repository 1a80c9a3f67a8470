"""Plans for histories: what comes in, is void, forgotten or compacted, and the states that follow."""
