"""Writes of this service, by noun. Order of locks: the event's row, entrants, the feed."""
