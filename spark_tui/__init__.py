"""Everything a person sees of spark-tui: screens and commands over the engine; it never stores anything itself."""

from engine import __version__ as __version__
