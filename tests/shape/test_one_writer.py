"""One writer each: stdout, the rows and files of a subject, the bytes of the terminal (01, rule 3)."""

import ast
import re
from collections import defaultdict

from tests.shape.tree import Source, dotted, sources

STDOUT = ("spark_tui/cli/output.py", "spark_tui/terminal/driver")
SUBJECTS = ("memory", "wiki", "router", "governor")
ASKED_ONLY = {"encoding", "errors", "fileno", "isatty"}
SPOKEN = {"print", "input", "click.echo", "click.secho", "click.prompt", "click.confirm", "click.pause"}
ROW_WRITE = re.compile(r"\b(?:INSERT(?:\s+OR\s+\w+)?\s+INTO|REPLACE\s+INTO|UPDATE)\s+([a-z]\w*)\b")
FILE_METHODS = {"rename", "replace", "rmdir", "symlink_to", "touch", "unlink", "write_bytes", "write_text"}
FILE_FUNCTIONS = re.compile(r"os\.(open|remove|rename|replace|rmdir|truncate|unlink)|shutil\.(copy\w*|move|rmtree)")


def test_stdout_has_one_writer() -> None:
    others = [source for source in sources() if not source.path.startswith(STDOUT)]
    assert not [place for source in others for place in _uses_of_stream(source, "stdout")]


def test_the_engine_says_nothing_on_stderr() -> None:
    assert not [place for source in sources("engine") for place in _uses_of_stream(source, "stderr")]


def _uses_of_stream(source: Source, stream: str) -> list[str]:
    """Where a file speaks, or names a standard stream for more than a question about it."""
    nodes = list(ast.walk(source.tree))
    asked = {id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr in ASKED_ONLY}
    names = {f"sys.{stream}", f"sys.__{stream}__"}
    return [
        source.at(node)
        for node in nodes
        if (isinstance(node, ast.Call) and dotted(node.func) in SPOKEN)
        or (isinstance(node, ast.Attribute) and dotted(node) in names and id(node) not in asked)
    ]


def test_the_rows_of_a_subject_are_written_in_its_own_folder() -> None:
    assert not [f"{place} writes {table}" for table, places in _row_writers().items() for place in places
                if not place.startswith(_homes_of(table))]  # fmt: skip


def _homes_of(table: str) -> tuple[str, ...]:
    subject = next((each for each in SUBJECTS if table.startswith(each)), None)
    return ("engine/storage/", f"engine/{subject}/") if subject else ("engine/",)


def test_a_table_has_one_writing_module() -> None:
    assert not {table: places for table, places in _row_writers().items() if len(places) > 1}


def _row_writers() -> dict[str, set[str]]:
    """The modules that insert into or update each table, by the statements in their strings.

    Migrations make tables and own none; deleting a row takes rows of other tables with it.
    """
    writers: dict[str, set[str]] = defaultdict(set)
    for source in sources():
        if source.path.startswith("engine/storage/steps/"):
            continue
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for table in ROW_WRITE.findall(node.value):
                    writers[table].add(source.path)
    return writers


def test_a_subject_changes_files_only_through_storage() -> None:
    subjects = [source for source in sources() if source.path.startswith(tuple(f"engine/{s}/" for s in SUBJECTS))]
    assert not [f"{source.at(node)} {ast.unparse(node)}" for source in subjects for node in ast.walk(source.tree)
                if isinstance(node, ast.Call) and _changes_a_file(node)]  # fmt: skip


def _changes_a_file(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    if name == "open":
        return _mode_writes(call.args[1:2])
    if not isinstance(call.func, ast.Attribute) or name.startswith("files."):
        return False
    # Path methods take one value; a str's replace takes two, and a store's own verbs a connection first.
    of_a_path = call.func.attr in FILE_METHODS and len(call.args) < 2
    opens = call.func.attr == "open" and _mode_writes(call.args[:1])
    return of_a_path or opens or bool(FILE_FUNCTIONS.fullmatch(name))


def _mode_writes(mode: list[ast.expr]) -> bool:
    return any(isinstance(each, ast.Constant) and bool(set(str(each.value)) & set("wax+")) for each in mode)
