"""What one call of the command was given: where it stands, how it answers; opens the engine for whoever needs it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import SparkError
from engine.paths import Home, find_home
from spark_tui.cli.output import Output

if TYPE_CHECKING:
    from engine.runtime import Engine


@dataclass(slots=True)
class Invocation:
    """The options that work on every command, before or after its verb; the innermost one wins."""

    output: Output = field(default_factory=Output)
    home_option: Path | None = None
    workspace_option: Path | None = None

    @property
    def as_json(self) -> bool:
        """Whether one JSON document is wanted instead of text."""
        return self.output.as_json

    @property
    def home(self) -> Home:
        """``--home``, else ``$SPARK_HOME``, else ``~/.spark-agent``."""
        return find_home(self.home_option)

    @property
    def folder(self) -> Path:
        """``--workspace``, else the current directory; the engine looks for the git root from there."""
        if self.workspace_option is not None:
            return self.workspace_option.absolute()
        try:
            return Path.cwd()
        except FileNotFoundError:
            raise FolderGone("the current directory no longer exists", "go elsewhere or use --workspace") from None

    def open(self, *, refresh: bool = True) -> "Engine":
        """An open engine, which the caller closes; hand edits are adopted first unless told otherwise."""
        from engine.runtime import open_engine

        return open_engine(self.home, self.folder, refresh=refresh)

    @contextmanager
    def engine(self, *, refresh: bool = True) -> Iterator["Engine"]:
        """An open engine for the length of the block; what its opening met is told."""
        with self.open(refresh=refresh) as engine:
            self._tell_opening(engine)
            yield engine

    def project(self, engine: "Engine") -> str:
        """What a person calls the project here; empty where there is none."""
        layer = engine.layers.project()
        return layer.label if layer else ""

    def speak(self, engine: "Engine") -> None:
        """Use the person's language and marks from now on; commands that print JSON never load either."""
        from spark_tui.text.glyphs import chosen_glyphs, use_glyphs
        from spark_tui.text.i18n import chosen_language, use_language

        settings = engine.settings
        use_language(chosen_language(str(settings.get("ui.language")), os.environ))
        marks = str(settings.get("ui.glyphs")) if settings.is_set("ui.glyphs") else "auto"
        use_glyphs(chosen_glyphs(marks, os.environ))

    def _tell_opening(self, engine: "Engine") -> None:
        opening = engine.database.opening
        if opening.set_aside is not None:
            self.output.note(
                f"the database was damaged and set aside as {opening.set_aside.name}; it is rebuilt", "warning"
            )


class FolderGone(SparkError):
    """The directory the command was started in was removed meanwhile."""

    code = "FOLDER_GONE"
