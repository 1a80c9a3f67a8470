"""What differs between two documents: trees, blocks, and which parts need to be looked at."""
