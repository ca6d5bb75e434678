"""Looks at what surrounds the store: versions, the home, settings, terminal and locale, the agent that may be running."""

import os
import platform
from collections.abc import Iterator, Mapping

from engine import __version__
from engine.config import Settings
from engine.doors.checks.row import Row, fail, first_few, info, ok, warn
from engine.doors.person import agent_marker
from engine.errors import SparkError
from engine.paths import Home

_LOCALES = ("LC_ALL", "LC_CTYPE", "LANG")


def environment_rows(home: Home, environ: Mapping[str, str]) -> Iterator[Row]:
    """Every row that needs no open store."""
    yield _versions()
    yield _home(home)
    yield from _settings(home)
    yield _locale(environ)
    yield _colour(environ)
    yield _agent(environ)
    yield _log(home)


def _versions() -> Row:
    import apsw

    told = f"spark-tui {__version__}, Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}"
    return info("version", "Versions", f"{told}, {platform.system()} {platform.machine()}")


def _home(home: Home) -> Row:
    title, place = "Home", str(home.root)
    if not home.root.exists():
        return ok("home", title, f"{place} (made at the first use)")
    if not home.root.is_dir():
        return fail("home", title, f"{place} is not a folder", "move it away, or name another with SPARK_HOME")
    if not os.access(home.root, os.W_OK | os.X_OK):
        return fail("home", title, f"{place} cannot be written: nothing can be remembered", f"chown it: ls -ld {place}")
    if home.root.stat().st_mode & 0o077:
        return warn("home", title, f"{place} can be entered by other users of this machine", f"chmod 700 {place}")
    return ok("home", title, place)


def _settings(home: Home) -> Iterator[Row]:
    title = "Settings"
    try:
        settings = Settings.load(home.config)
    except SparkError as error:
        yield fail("settings", title, error.message, error.hint)
        return
    changed = [setting.key for setting, _value in settings.items() if settings.is_set(setting.key)]
    if settings.problems:
        yield warn("settings", title, "; ".join(settings.problems), f"edit {home.config}")
    else:
        yield ok("settings", title, f"set: {first_few(changed)}" if changed else "all at their defaults")


def _locale(environ: Mapping[str, str]) -> Row:
    title = "Locale"
    name = next((name for name in _LOCALES if environ.get(name)), None)
    if name is None:
        return warn(
            "locale", title, "no LC_ALL, LC_CTYPE or LANG: screens use plain ASCII marks", "export LANG=C.UTF-8"
        )
    told = f"{name}={environ[name]}"
    if "utf-8" in environ[name].lower() or "utf8" in environ[name].lower():
        return ok("locale", title, told)
    return warn("locale", title, f"{told} is not UTF-8: screens use plain ASCII marks", f"export {name}=C.UTF-8")


def _colour(environ: Mapping[str, str]) -> Row:
    title = "Colours"
    if environ.get("NO_COLOR"):
        return info("colour", title, "none, NO_COLOR is set")
    depth = environ.get("COLORTERM", "")
    term = environ.get("TERM", "")
    if depth.lower() in ("truecolor", "24bit"):
        return ok("colour", title, f"16 million, by COLORTERM={depth}")
    if "256color" in term:
        return ok(
            "colour",
            title,
            f"256, by TERM={term}",
        )
    if term in ("", "dumb"):
        return info("colour", title, f"none, by TERM={term or '(unset)'}")
    return info("colour", title, f"16, by TERM={term}", "export COLORTERM=truecolor if the terminal can do it")


def _agent(environ: Mapping[str, str]) -> Row:
    marker = agent_marker(environ)
    if marker is None:
        return ok("person", "Who is asking", "a person")
    return info("person", "Who is asking", f"an agent, by {marker}: commands that change memories refuse")


def _log(home: Home) -> Row:
    if not home.log.exists():
        return info("log", "Log", f"{home.log} (not written yet)")
    return info("log", "Log", f"{home.log}, {home.log.stat().st_size / 1024:.0f} kB")
