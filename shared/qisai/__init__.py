"""qisai: the library that every service of the tournament platform may import."""

__version__ = "0.1.0"
