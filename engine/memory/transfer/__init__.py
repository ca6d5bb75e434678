"""Memories coming and leaving: export as plain markdown, import from folders of several makers."""
