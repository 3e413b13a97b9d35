"""What one task does in one micro-batch: restore the state, run the operators, save the state."""
