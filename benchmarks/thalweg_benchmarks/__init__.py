"""Thalweg's benchmarks. They report ratios measured within one run, because times depend on the machine."""
