"""Schema documents to versions: JSON Schema, Avro, and the entries of registries."""
