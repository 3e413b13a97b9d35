"""The stages of a query in shards, without Spark: any engine may carry the messages between them."""
