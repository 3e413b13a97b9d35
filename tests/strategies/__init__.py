"""Hypothesis strategies that every engine's tests share."""
