"""One migration a file, applied in order of number."""
