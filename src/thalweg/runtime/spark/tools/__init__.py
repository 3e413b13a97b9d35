"""Tools around a query: sources and sessions for the command line, verification, sampling, statistics."""
