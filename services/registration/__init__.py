"""The registration service: events and regulations, entrants and their states, lots, what is known before a round."""
