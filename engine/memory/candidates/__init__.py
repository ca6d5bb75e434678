"""What waits for a person before it becomes a memory: proposals, their decision, and what was ever asked."""
