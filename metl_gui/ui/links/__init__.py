"""Links to places of a project in the window: copied from what is in front, followed when somebody opens one."""
