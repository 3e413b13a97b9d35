"""Tools around a running query: verification, sampling, statistics."""
