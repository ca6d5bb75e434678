"""The gate against secrets and private numbers: ``scan`` is its door, the other files know one kind each."""
