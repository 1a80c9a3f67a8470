"""A record beside the messages that it became, with what belongs together in both."""
