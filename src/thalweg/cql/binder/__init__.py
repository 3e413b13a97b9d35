"""From syntax trees to logical plans: names, types and windows resolved, every error with its place."""
