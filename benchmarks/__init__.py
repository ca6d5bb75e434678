"""Measurements as ratios against a reference of the same run; nothing here is a test."""
