"""The incremental engine: a plan becomes operators over batches of signed intervals."""
