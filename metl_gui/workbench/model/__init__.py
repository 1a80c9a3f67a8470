"""The canonical data model and its lineages for owners: entities, lineages, comments, and the effects of edits."""
