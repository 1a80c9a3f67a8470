"""History in the window: earlier states looked at, compared and published, and the settings that go with them."""
