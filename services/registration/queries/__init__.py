"""Reads of this service, by noun."""
