"""The demo: a project made of a sample folder, and what happens to it, also on real servers."""
