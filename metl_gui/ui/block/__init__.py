"""The block editor: one block as two lists with lines, and its versions as small multiples."""
