"""Unsaved text kept on disk under ``$SPARK_HOME/drafts``: it survives esc, a crash and a dropped line; never sent anywhere."""

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

NEW = "new"


@dataclass(frozen=True, slots=True)
class FormDraft:
    """What a form held: its fields as text, and the version of the entry it was begun on (0 for a new one)."""

    fields: Mapping[str, str]
    version: int = 0


class Drafts:
    """One file per form: ``new.json``, or ``<id>.json`` for the edit of an entry; readable by its owner only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, key: str, draft: FormDraft) -> str | None:
        """Write a draft over the one before it; answers why it could not be written, or None."""
        content = json.dumps({"version": draft.version, "fields": dict(draft.fields)}, ensure_ascii=False, indent=1)
        try:
            self._write(self.folder / f"{key}.json", content)
        except OSError as error:
            return error.strerror or type(error).__name__
        return None

    def find(self, key: str) -> FormDraft | None:
        """The draft of a form; None when there is none or the file is not one of ours."""
        try:
            data = json.loads((self.folder / f"{key}.json").read_text(encoding="utf-8"))
            fields = {str(name): str(value) for name, value in data["fields"].items()}
            return FormDraft(fields, int(data["version"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def drop(self, key: str) -> None:
        """Forget a draft: it was saved, or a person threw it away."""
        with contextlib.suppress(FileNotFoundError):
            (self.folder / f"{key}.json").unlink()

    def keep_text(self, name: str, text: str) -> Path:
        """Write the text of an editor that could not be saved; answers where. Raises ``OSError``."""
        path = self.folder / name
        self._write(path, text)
        return path

    def _write(self, path: Path, content: str) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=".tmp")
        staged = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
                file.write(content)
            staged.replace(path)
        except BaseException:
            staged.unlink(missing_ok=True)
            raise
