"""A checkpoint folder: manifests, run files, layouts of groups, commands of flows."""
