"""Continuously adaptive shared queries (seed 003): grouped filters, SteMs and routing; lineage as bitmaps."""
