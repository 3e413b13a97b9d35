"""The logical plan: expressions, windows, operators and the catalogue they refer to."""
