"""The in-process engine with a virtual clock."""
