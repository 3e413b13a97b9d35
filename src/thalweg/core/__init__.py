"""Time, types, schemas, errors, values and batches: the base of all other layers."""
