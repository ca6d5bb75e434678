"""The Memory screen, put together: what it shows, what it looks at, what it writes; adds nothing of its own."""

from spark_tui.screens.memory_forms import MemoryForms


class MemoryScreen(MemoryForms):
    """Area 1: every memory a person sees from here."""

    CSS_PATH = "memory.tcss"
