"""Benchmarks: what docs/quality speaks of, measured with baselines side by side. Run with `make bench`."""
