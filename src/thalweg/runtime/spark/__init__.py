"""The engine on Spark; the only package that may import pyspark."""
