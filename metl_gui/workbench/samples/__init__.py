"""Sample messages: kept in the cache, matched to versions, previewed."""
