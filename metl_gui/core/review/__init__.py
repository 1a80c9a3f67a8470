"""What waits for a person: review items, rename proposals, choices, and who is to decide."""
