"""What follows from messages, as plain Python: states of rows, members, facts, and the rules about them."""
