"""Fast lanes: their state and orders, offset resets, initial loads."""
