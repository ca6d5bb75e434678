"""Files with one subject, a sentence for every public name, no failure swallowed."""

import ast
import re
from collections.abc import Iterator
from statistics import median

from tests.shape.tree import Definition, Source, functions, length, proportions, sources

FILE_MAX = 400
FUNCTION_MAX = 60
FILE_MEDIAN_MAX = 150
FUNCTION_MEDIAN_MAX = 12
DRAWERS = {"common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"}


def test_every_module_opens_with_a_sentence_on_what_it_is_for() -> None:
    assert not [source.path for source in sources() if not ast.get_docstring(source.tree)]


def test_every_public_name_has_a_sentence() -> None:
    public = ((source.at(node), name, node) for source in sources() for name, node in _public(source))
    assert not [f"{place} {name}" for place, name, node in public if not ast.get_docstring(node)]


def _public(source: Source) -> Iterator[tuple[str, Definition]]:
    for node in source.tree.body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node.name, node
            # What a screen overrides is described by Textual; what the engine offers is described here.
            if isinstance(node, ast.ClassDef) and source.path.startswith("engine/"):
                yield from ((f"{node.name}.{item.name}", item) for item in node.body if _is_public_method(item))


def _is_public_method(item: ast.stmt) -> bool:
    return (
        isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
        and not item.name.startswith("_")
        and not any(ast.unparse(each).endswith((".setter", "override", "overload")) for each in item.decorator_list)
    )


def test_no_file_is_too_long_to_have_one_subject() -> None:
    assert not {source.path: source.lines for source in sources() if source.lines > FILE_MAX}


def test_no_function_is_too_long_to_be_read_at_once() -> None:
    lengths = {f"{source.at(node)} {node.name}": length(node) for source in sources() for node in functions(source)}
    assert not {place: lines for place, lines in lengths.items() if lines > FUNCTION_MAX}


def test_the_median_file_and_function_are_short() -> None:
    files = [source.lines for source in sources() if source.lines > 3]
    lengths = [length(node) for source in sources() for node in functions(source)]
    assert median(files) <= FILE_MEDIAN_MAX, proportions()
    assert median(lengths) <= FUNCTION_MEDIAN_MAX, proportions()


def test_no_file_is_a_drawer_for_everything() -> None:
    assert not [source.path for source in sources() if DRAWERS & set(re.split(r"[/._]", source.path))]


def test_no_banner_stands_in_for_a_file_of_its_own() -> None:
    banner = re.compile(r"^[ \t]*# ?[-=#*]{4,}", re.MULTILINE)
    assert not [source.path for source in sources("engine", "spark_tui", "tests") if banner.search(source.text)]


def test_no_failure_is_swallowed() -> None:
    assert not [source.at(node) for source in sources() for node in ast.walk(source.tree) if _swallows(node)]


def _swallows(node: ast.AST) -> bool:
    if isinstance(node, ast.ExceptHandler):
        idle = all(isinstance(each, ast.Pass | ast.Continue | ast.Break) or _is_constant(each) for each in node.body)
        return _is_broad(node.type) and idle
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress") and any(map(_is_broad, node.args))


def _is_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_broad(kind: ast.expr | None) -> bool:
    if isinstance(kind, ast.Tuple):
        return any(map(_is_broad, kind.elts))
    return kind is None or ast.unparse(kind) in {"Exception", "BaseException"}
