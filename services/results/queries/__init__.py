"""Reads by noun; the number of queries never grows with the number of rows."""
