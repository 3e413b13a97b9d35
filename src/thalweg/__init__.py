"""Thalweg: exact answers to standing queries over streams and changing tables."""
