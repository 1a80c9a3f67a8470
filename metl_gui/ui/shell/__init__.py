"""The window: pages, bars, panels, the project in front, and what its menus do."""
