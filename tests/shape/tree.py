"""The source as data: every module parsed once, for the tests that hold the rules of the house."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("engine", "spark_tui")
CLI = ROOT / "spark_tui" / "cli" / "main.py"

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file; ``path`` is relative to the checkout and written with slashes."""

    path: str
    text: str
    tree: ast.Module

    @property
    def module(self) -> str:
        """Its dotted name: ``engine.storage.files``."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def lines(self) -> int:
        """Its length in lines."""
        return len(self.text.splitlines())

    def at(self, node: ast.AST) -> str:
        """Where a node stands, as editors understand it: ``engine/bus.py:12``."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"


@cache
def sources(*folders: str) -> tuple[Source, ...]:
    """Every Python file below the given folders (default: the two packages), in order of path."""
    found = [path for folder in folders or PACKAGES for path in sorted((ROOT / folder).rglob("*.py"))]
    return tuple(_read(path) for path in found)


def _read(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    return Source(path.relative_to(ROOT).as_posix(), text, ast.parse(text, filename=str(path)))


def functions(source: Source) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of a file, nested ones too."""
    return (node for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def length(node: Definition) -> int:
    """Lines of a definition from its ``def`` to its last line, decorators not counted."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def dotted(node: ast.expr) -> str:
    """``os.path.join`` of an expression made of names and attributes; empty for any other."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        left = dotted(node.value)
        return f"{left}.{node.attr}" if left else ""
    return ""


def imported(source: Source) -> Iterator[tuple[ast.stmt, str]]:
    """Every absolute import of a file, those inside functions too, with the full name of the module."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node, node.module or ""


def proportions() -> str:
    """File and function lengths as one line: medians and the longest."""
    files = sorted((source.lines, source.path) for source in sources() if source.lines > 3)
    defs = sorted((length(node), f"{s.at(node)} {node.name}") for s in sources() for node in functions(s))
    return (
        f"{len(files)} files, median {median(n for n, _ in files):g} lines, longest {files[-1][0]} ({files[-1][1]}); "
        f"{len(defs)} functions, median {median(n for n, _ in defs):g} lines, longest {defs[-1][0]} ({defs[-1][1]})"
    )


if __name__ == "__main__":
    print(proportions())
