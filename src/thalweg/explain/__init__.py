"""EXPLAIN: a plan with its patterns, buffers and bounds, as text and as JSON."""
