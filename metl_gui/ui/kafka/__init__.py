"""Topics in the window: choosing what is read and where messages go, and showing topics before they are made."""
