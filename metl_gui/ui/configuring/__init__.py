"""Settings in the window: of schemas, of entities, of the whole project."""
