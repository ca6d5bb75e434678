"""People, libraries, modules and systems a memory names: one normal form per thing, shared by memories of a layer."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

import apsw

RELATED_MAX = 5
ENTITY_MAX = 120
# Written forms of one thing → its normal form, after lower-casing and dropping "js"-like endings (02 §2).
ALIASES = {
    "arco design": "arco",
    "arco-design": "arco",
    "postgres": "postgresql",
    "pg": "postgresql",
    "psql": "postgresql",
    "k8s": "kubernetes",
    "golang": "go",
    "py": "python",
    "python3": "python",
    "ts": "typescript",
    "js": "javascript",
    "ecmascript": "javascript",
    "mongo": "mongodb",
    "gh": "github",
    "vs code": "vscode",
    "visual studio code": "vscode",
    "es": "elasticsearch",
    "tailwindcss": "tailwind",
    "tailwind css": "tailwind",
    "ant design": "antd",
    "ant-design": "antd",
    "element plus": "element-plus",
    "rb": "ruby",
    "rails": "ruby on rails",
    "aws": "amazon web services",
    "gcp": "google cloud",
}
_PACKAGE = re.compile(r"@([\w.-]+)/([\w.-]+)")
_RUNTIME_ENDING = re.compile(r"(?<=\w\w)(?:\.js|\.jsx|\.ts|js)$")
_KEEPS_ENDING = {"node.js", "nodejs", "next.js", "nextjs", "nuxt.js", "nuxtjs", "d3.js", "three.js", "threejs"}


def normalised_entity(name: str) -> str:
    """The normal form under which an entity is one thing: ``Arco Design`` and ``@arco-design/web-react`` → ``arco``."""
    text = name
    while (form := _simpler(text)) != text:
        text = form
    return text


def _simpler(name: str) -> str:
    text = " ".join(unicodedata.normalize("NFKC", name).casefold().replace("_", "-").split())
    package = _PACKAGE.fullmatch(text)
    if package:  # a scoped package is the thing its scope is named after
        text = package[2] if package[1] == "types" else package[1]
    if text in ALIASES:
        return ALIASES[text]
    if text in _KEEPS_ENDING:
        return text.replace("js", "").rstrip(".") + ".js"
    stem = _RUNTIME_ENDING.sub("", text)
    return ALIASES.get(stem, stem)


def cleaned(names: Iterable[str]) -> tuple[str, ...]:
    """Entity names as they are stored: trimmed, one line, no duplicates by normal form, order kept."""
    kept: dict[str, str] = {}
    for name in names:
        text = " ".join(name.split())[:ENTITY_MAX].rstrip()
        if text and normalised_entity(text):
            kept.setdefault(normalised_entity(text), text)
    return tuple(kept.values())


def kind_of(name: str) -> str:
    """A guess at what an entity is: person, library, module or system; only shown, never used to decide."""
    if name.startswith("@") and "/" not in name:
        return "person"
    if re.search(r"[/\\]|\.(py|ts|tsx|js|go|rs|java|c|cpp|rb|sql)$", name) and not name.startswith("@"):
        return "module"
    if _PACKAGE.fullmatch(name) or re.search(r"\.(js|io)$|^lib", name.casefold()):
        return "library"
    return "system"


def link(connection: apsw.Connection, rid: int, layer: str, names: Sequence[str]) -> None:
    """Make the entities of one entry exactly these; entities nobody names any more are dropped."""
    unlink(connection, rid)
    for name in names:
        normal = normalised_entity(name)
        connection.execute(
            "INSERT INTO memory_entity(layer, name, kind, normalised) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (layer, name, kind_of(name), normal),
        )
        connection.execute(
            "INSERT OR IGNORE INTO memory_entity_link(rid, eid)"
            " SELECT ?, eid FROM memory_entity WHERE layer = ? AND normalised = ?",
            (rid, layer, normal),
        )


def unlink(connection: apsw.Connection, rid: int) -> None:
    """Forget which entities an entry names."""
    eids = [row[0] for row in connection.execute("SELECT eid FROM memory_entity_link WHERE rid = ?", (rid,))]
    connection.execute("DELETE FROM memory_entity_link WHERE rid = ?", (rid,))
    connection.executemany(
        "DELETE FROM memory_entity WHERE eid = ? AND NOT EXISTS (SELECT 1 FROM memory_entity_link l WHERE l.eid = ?)",
        [(eid, eid) for eid in eids],
    )


def sharing(connection: apsw.Connection, rids: Sequence[int]) -> list[int]:
    """Entries that share an entity with one of the given ones, in the same layer, most shared first (not filtered)."""
    marks = ", ".join("?" * len(rids))
    sql = (
        "SELECT other.rid, count(*) AS shared FROM memory_entity_link mine JOIN memory_entity_link other USING (eid)"
        f" WHERE mine.rid IN ({marks}) AND other.rid NOT IN ({marks}) GROUP BY other.rid"
        " ORDER BY shared DESC, other.rid"
    )
    return [row[0] for row in connection.execute(sql, (*rids, *rids))]
