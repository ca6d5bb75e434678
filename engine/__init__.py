"""The headless engine of spark-tui: storage, memory and the services every door calls; it knows of no screen."""

__version__ = "0.1.0"
