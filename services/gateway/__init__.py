"""The gateway: the one address that people and clients speak to. Pages, public API, sign-in, limits."""
