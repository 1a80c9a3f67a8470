"""Charts and figures of a run or a lane, while it goes on and afterwards."""
