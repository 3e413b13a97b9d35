"""State buffers and the codes that address them. Knows nothing of operators."""
