"""What a project keeps beside its states, one repository a subject. Below the project file; may import core.

None of it is part of a state, so undo leaves it. ``project_data.Repositories`` holds them all.
"""
