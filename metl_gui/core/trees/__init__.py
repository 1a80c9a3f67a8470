"""The extraction tree and the CDM tree: schemas, entities, versions, attributes, their types and names."""
