"""Flows: thousands of standing queries over the same streams, which come and go while one pass serves them all."""
