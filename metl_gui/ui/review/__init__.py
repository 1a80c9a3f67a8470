"""The page on which decisions are taken: what waits, before and after, one card for each lost element."""
