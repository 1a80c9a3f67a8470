"""A lane while it goes on: its figures by partition, who takes part in its state, and what a person may order it."""
