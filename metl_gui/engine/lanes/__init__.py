"""Fast lanes: long-lived tasks that consume, map and produce in transactions, and what they agree on."""
