"""Reads the text a person hands to a command: from an option, a file or standard input, always as UTF-8."""

from dataclasses import dataclass

import click

from engine.errors import IoFailed, ValidationFailed
from spark_tui.cli.output import read_stdin

STDIN = "-"


@dataclass(frozen=True, slots=True)
class BodySource:
    """Where a body comes from; at most one of the two options may be given."""

    text: str | None
    file: str | None

    def read(self) -> str | None:
        """The body, or None when neither option was given. Raises ``ValidationFailed``, ``IoFailed`` or wrong usage."""
        if self.text is not None and self.file is not None:
            raise click.UsageError("--body and --body-file cannot be used together")
        if self.file is None and self.text != STDIN:
            return self.text
        return _decoded(read_stdin() if STDIN in (self.text, self.file) else _content(str(self.file)), "the body")


def file_text(path: str, what: str) -> str:
    """The text of a file, or of standard input for ``-``; ``what`` names it in the error."""
    return _decoded(read_stdin() if path == STDIN else _content(path), what)


def entity_list(text: str | None) -> tuple[str, ...] | None:
    """Names separated by commas, western or Chinese; None when the option was not given."""
    if text is None:
        return None
    for mark in "，、;；":
        text = text.replace(mark, ",")
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise IoFailed(f"{path} cannot be read: {error.strerror}", path=path) from error


def _decoded(data: bytes, what: str) -> str:
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValidationFailed(f"{what} is not UTF-8 text", "convert it first", byte=error.start) from None
