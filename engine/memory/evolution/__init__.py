"""The fourth and fifth gate: what a new item does to the memories that are there (02 §4)."""
