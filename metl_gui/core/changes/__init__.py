"""What changes a document: drafts, the automated update, chains of losses, lineages, effects."""
