"""Projects, states and exports compared, and merged three-way."""
