"""Where everything lives under ``$SPARK_HOME``; names paths only, creates nothing."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROJECT_FOLDER = ".spark-agent"


@dataclass(frozen=True, slots=True)
class Home:
    """The layout of one home; every path is absolute."""

    root: Path

    @property
    def config(self) -> Path:
        """Settings, providers and routers (TOML)."""
        return self.root / "config.toml"

    @property
    def database(self) -> Path:
        """The index; everything durable in it can be rebuilt from files."""
        return self.root / "spark.db"

    @property
    def memory_user(self) -> Path:
        """Memory files of the user scope."""
        return self.root / "memory" / "user"

    @property
    def memory_agents(self) -> Path:
        """One folder per agent id below this one."""
        return self.root / "memory" / "agent"

    @property
    def run(self) -> Path:
        """Locks and sockets of running processes (0700)."""
        return self.root / "run"

    @property
    def log(self) -> Path:
        """The log file."""
        return self.root / "logs" / "spark.log"

    @property
    def cache(self) -> Path:
        """Files that can be deleted at any time (token vocabulary)."""
        return self.root / "cache"


def find_home(explicit: Path | None = None, environ: Mapping[str, str] = os.environ) -> Home:
    """``explicit``, else ``$SPARK_HOME``, else ``~/.spark-agent``."""
    chosen = explicit or (Path(environ["SPARK_HOME"]) if environ.get("SPARK_HOME") else Path.home() / PROJECT_FOLDER)
    return Home(chosen.expanduser().absolute())
