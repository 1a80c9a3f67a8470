"""The one table of actions, with their keys; menus and the shortcut sheet are built from it."""
