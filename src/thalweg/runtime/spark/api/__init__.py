"""What users call: the engine, queries, runs and flows."""
