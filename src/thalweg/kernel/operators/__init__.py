"""Columnar operators: batches of signed intervals in, batches of signed intervals out. One file for each operator."""
