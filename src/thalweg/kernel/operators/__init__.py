"""Columnar operators: batches of signed intervals in, batches out. One file each."""
