"""What the commands that run on Spark share; imported only when one of them runs."""
