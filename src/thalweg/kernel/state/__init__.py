"""The state of operators: buffers, the codes that address them, and snapshots. It imports no operator."""
