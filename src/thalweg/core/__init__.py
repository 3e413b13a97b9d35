"""Time, types, schemas and errors: what every other layer stands on."""
