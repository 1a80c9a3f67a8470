"""The preview beside the block editor: one sample message, and what becomes of it by what is on the screen."""
