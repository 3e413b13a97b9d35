"""Update patterns: how the results of each operator come and go."""
