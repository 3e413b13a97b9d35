"""CQL text to logical plans."""
