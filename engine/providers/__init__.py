"""Models the engine can ask: embeddings, tokens, later language models."""
