"""The tests of spark-tui: behaviour through public doors, laid out as the source is."""
