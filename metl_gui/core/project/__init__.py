"""What a project keeps beside its states: comments, masks, assignments, version tasks, profiles of samples."""
