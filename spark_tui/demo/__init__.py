"""What the demonstration runs on: a model server that answers by a script, for people and for tests alike."""
