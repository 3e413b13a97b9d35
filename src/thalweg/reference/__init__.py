"""The reference: a short, literal evaluator that defines the right answer to a query at every instant."""
