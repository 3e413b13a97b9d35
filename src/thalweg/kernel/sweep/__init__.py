"""Columnar helpers of operators: join keys and pairs, events and steps along time, sorting, parts of one operator."""
