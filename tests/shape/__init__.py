"""Holds the rules of the house itself: who may import, write and name what."""
