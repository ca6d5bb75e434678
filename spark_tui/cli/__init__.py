"""The command line: a stable contract for scripts (08); it imports no Textual and only what the called command needs."""
