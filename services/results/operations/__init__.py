"""Verbs by noun. They flush and never commit; errors are of `qisai.errors`; no word of HTTP."""
