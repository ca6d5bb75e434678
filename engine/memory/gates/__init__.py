"""The gates that judge what a model would have remembered: ``order`` is their door, the other files know one each."""
