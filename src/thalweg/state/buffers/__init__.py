"""State buffers: where tuples and results wait until they leave, laid out as their update pattern allows."""
