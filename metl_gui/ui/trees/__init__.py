"""The two trees: thin adapters over the frozen trees, what is shown of a node, and the search box."""
