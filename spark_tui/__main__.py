"""Lets ``python -m spark_tui`` stand for the command ``spark-tui``; holds no logic of its own."""

import sys

from spark_tui.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
