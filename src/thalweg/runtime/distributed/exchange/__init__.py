"""What travels between tasks: messages, the bytes they hold, and the group each row belongs to."""
