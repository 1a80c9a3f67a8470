"""Tables of a model as they stand in a target."""
