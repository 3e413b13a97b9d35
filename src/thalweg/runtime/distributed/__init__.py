"""A query's stages at work in shards, whoever carries the tuples between them: no Spark here."""
