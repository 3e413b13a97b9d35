"""Columnar helpers that operators share: keys, pairs, sweeps along time, orders of rows."""
