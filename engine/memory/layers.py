"""The layers one process sees: user, the agents of the home, and the project it stands in; each with its folder."""

import logging
from collections.abc import Iterable
from pathlib import Path

import apsw

from engine.clock import DAY_MS, Clock
from engine.errors import SparkError, ValidationFailed
from engine.identity import Ids
from engine.memory.model import Layer, Scope, checked_agent
from engine.memory.workspaces import Unbound, Workspace, ensure_workspace_id, with_id
from engine.paths import PROJECT_FOLDER, Home
from engine.storage.database import Database

USER_KEY = "user"
BUILT_IN_AGENTS = ("main", "claude-code", "codex")
SEEN_WAIT_MS = 100
_log = logging.getLogger(__name__)


class Layers:
    """Answers which layers exist and where their files lie; the workspace is fixed until ``bind`` changes it."""

    def __init__(self, home: Home, database: Database, workspace: Workspace | Unbound, clock: Clock, ids: Ids) -> None:
        self._home = home
        self._database = database
        self._clock = clock
        self._ids = ids
        self._workspace = workspace
        self._project: Layer | None = None
        self._ensured: Path | None = None

    @property
    def workspace(self) -> Workspace | Unbound:
        """The workspace this process stands in, or why there is none."""
        return self._workspace

    def bind(self, workspace: Workspace | Unbound) -> None:
        """Stand in another workspace from now on."""
        self._workspace, self._project = workspace, None

    def user(self) -> Layer:
        """What every project and agent of this person shares."""
        return Layer(Scope.USER, None, USER_KEY, self._home.memory_user, "user")

    def agent(self, agent_id: str) -> Layer:
        """The layer of one agent role. Raises ``ValidationFailed`` for an id that is no safe path component."""
        checked = checked_agent(agent_id)
        return Layer(Scope.AGENT, checked, f"agent:{checked}", self._home.memory_agents / checked, checked)

    def agents(self) -> list[Layer]:
        """Every agent that has a folder of memories, or had one that vanished with entries in it, by name."""
        try:
            names = {each.name for each in self._home.memory_agents.iterdir() if each.is_dir()}
        except OSError:
            names = set()
        with self._database.read() as connection:
            sql = (
                "SELECT layer FROM memory_layer_state s WHERE layer GLOB 'agent:*'"
                " AND EXISTS (SELECT 1 FROM memory_entry e WHERE e.layer = s.layer)"
            )
            names.update(layer.partition(":")[2] for (layer,) in connection.execute(sql))
        return [self.agent(name) for name in sorted(names) if _is_agent(name)]

    def project(self) -> Layer | None:
        """The layer of the workspace, or None when there is none or nothing was ever written to it."""
        if isinstance(self._workspace, Workspace) and self._workspace.id is None:
            self._workspace = with_id(self._workspace)  # another process may have begun it meanwhile
        workspace = self._workspace
        if isinstance(workspace, Unbound) or workspace.id is None:
            return None
        if self._project is None:
            self._project = self._register(workspace.id, workspace.root, workspace.folder)
        return self._project

    def for_writing(self, scope: Scope, agent_id: str | None) -> Layer:
        """The layer a new memory goes to; gives a workspace its id at the first write.

        Raises ``ValidationFailed`` when the scope needs a workspace or an agent id and there is none.
        """
        if scope is Scope.USER:
            return self.user()
        if scope is Scope.AGENT:
            if not agent_id:
                raise ValidationFailed("an agent memory needs an agent id", "name one with --agent")
            return self.agent(agent_id)
        if isinstance(self._workspace, Unbound):
            raise ValidationFailed(
                f"a project memory needs a workspace: {self._workspace.reason.words}", "start in a project folder"
            )
        if self._ensured != self._workspace.root:  # a clone has an id, but perhaps nothing that keeps git out yet
            found = ensure_workspace_id(self._workspace, self._ids)
            self._workspace = Workspace(found, self._workspace.root, self._workspace.folder)
            self._ensured = self._workspace.root
        project = self.project()
        assert project is not None
        return project

    def person(self) -> list[Layer]:
        """What the person at the keyboard sees here: user, this project, every agent."""
        project = self.project()
        return [self.user(), *([project] if project else []), *self.agents()]

    def session(self, agent_id: str | None) -> list[Layer]:
        """What a turn of one agent sees: user, this project, that agent. Default deny for everything else."""
        project = self.project()
        agent = [self.agent(agent_id)] if agent_id else []
        return [self.user(), *([project] if project else []), *agent]

    def narrowed(self, layers: Iterable[Layer], scope: Scope | None, agent_id: str | None) -> list[Layer]:
        """Those of the given layers that are of a scope and, for agents, of one id."""
        if agent_id is not None:
            checked_agent(agent_id)
        return [
            each
            for each in layers
            if scope in (None, each.scope) and (each.scope is not Scope.AGENT or agent_id in (None, each.ref))
        ]

    def known_workspaces(self) -> list[tuple[str, Path, int]]:
        """(workspace id, root, last seen in ms) of every project this home has met, latest first."""
        with self._database.read() as connection:
            rows = connection.execute("SELECT id, root, last_seen FROM workspace ORDER BY last_seen DESC, key")
            return [(row[0], Path(row[1]), row[2]) for row in rows]

    def folder_of(self, key: str) -> Path | None:
        """The folder behind a layer key, or None when its workspace is gone or unknown."""
        if key == USER_KEY:
            return self._home.memory_user
        kind, _, rest = key.partition(":")
        if kind == "agent":
            return self._home.memory_agents / rest
        with self._database.read() as connection:
            row = next(iter(connection.execute("SELECT root FROM workspace WHERE key = ?", (int(rest),))), None)
        return Path(row[0]) / PROJECT_FOLDER / "memory" if row and Path(row[0]).is_dir() else None

    def by_key(self, key: str) -> Layer | None:
        """The layer of a key among those this process can see."""
        return next((each for each in self.person() if each.key == key), None)

    def _register(self, workspace_id: str, root: Path, folder: Path) -> Layer:
        with self._database.read() as connection:
            number = _find(connection, workspace_id, root)
        if number is None and self._database.writable:
            with self._database.write() as connection:
                number = _find(connection, workspace_id, root) or _moved(connection, workspace_id, root, folder)
                if number is None:
                    sql = "INSERT INTO workspace(id, root, last_seen) VALUES (?, ?, ?)"
                    connection.execute(sql, (workspace_id, str(root), self._clock.now_ms()))
                    number = connection.last_insert_rowid()
        elif number is not None:
            self._seen(number)
        key = f"project:{number or 0}"
        return Layer(Scope.PROJECT, workspace_id, key, folder / "memory", root.name)

    def _seen(self, number: int) -> None:
        """Note once a day that a workspace is in use; not worth waiting for."""
        now = self._clock.now_ms()
        with self._database.read() as connection:
            seen = next(connection.execute("SELECT last_seen FROM workspace WHERE key = ?", (number,)))[0]
        if now - seen < DAY_MS or not self._database.writable:
            return
        try:
            with self._database.write(durable=False, wait_ms=SEEN_WAIT_MS) as connection:
                connection.execute("UPDATE workspace SET last_seen = ? WHERE key = ?", (now, number))
        except SparkError as error:
            _log.info("workspace %d in use, not noted: %s", number, error.code)


def _is_agent(name: str) -> bool:
    try:
        checked_agent(name)
    except SparkError:
        return False
    return True


def _find(connection: apsw.Connection, workspace_id: str, root: Path) -> int | None:
    sql = "SELECT key FROM workspace WHERE id = ? AND root = ?"
    row = next(iter(connection.execute(sql, (workspace_id, str(root)))), None)
    return row[0] if row else None


def _moved(connection: apsw.Connection, workspace_id: str, root: Path, folder: Path) -> int | None:
    """A workspace of this id whose old root is gone was moved here: it keeps its number, hits and history.

    Only when every memory of it lies here: a clone of one that is merely away (unmounted) lacks what was private there.
    """
    for number, old in list(connection.execute("SELECT key, root FROM workspace WHERE id = ?", (workspace_id,))):
        if not (Path(old) / PROJECT_FOLDER / "workspace.json").exists() and _holds_all(connection, number, folder):
            connection.execute("UPDATE workspace SET root = ? WHERE key = ?", (str(root), number))
            return int(number)
    return None


def _holds_all(connection: apsw.Connection, number: int, folder: Path) -> bool:
    sql = "SELECT id FROM memory_entry WHERE layer = ? AND file_state IS NULL"
    ids = [row[0] for row in connection.execute(sql, (f"project:{number}",))]
    return all((folder / "memory" / f"{entry_id}.md").exists() for entry_id in ids)
