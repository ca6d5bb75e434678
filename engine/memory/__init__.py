"""Long-term memory: what is remembered, for whom, found how and injected when."""
