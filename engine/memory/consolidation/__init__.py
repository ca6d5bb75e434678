"""Merges what a layer says twice and proposes what several entries have in common, in the background (02 §8)."""
