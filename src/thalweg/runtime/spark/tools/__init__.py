"""Tools around the engine: sources of the command line, and the verification of answers."""
