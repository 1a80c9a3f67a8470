"""How all lanes of a matrix come to map with the same state: members that meet on a compacted topic."""
