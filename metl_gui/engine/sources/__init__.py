"""Where records come from: one reader per kind of source."""
