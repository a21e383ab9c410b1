"""Everything that `qisai up` and the tests need to run the platform on one machine without anything installed."""
