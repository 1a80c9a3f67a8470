"""Keys of actions: which action has which, how a person changes them, and the sheet that lists them."""
