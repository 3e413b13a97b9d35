"""The oracle: a short, literal evaluator that defines the right answer."""
