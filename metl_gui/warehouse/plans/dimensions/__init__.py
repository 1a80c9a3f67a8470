"""Plans for dimensions: members, their versions and keys, and the tables that hang on them."""
