"""The page on which a mapping is run: from where, the live chart, the counts, messages before and after."""
