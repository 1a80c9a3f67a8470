"""What is said of warehouse models: checks, proposals, what uses an attribute, what is masked or granted."""
