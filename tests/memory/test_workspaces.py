"""Which project a folder belongs to, how it gets its id, and what git may see of it; with real git repositories."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import IoFailed, StoreReadOnly, ValidationFailed
from engine.identity import Ids, counting_ids
from engine.memory.workspaces import (
    Unbound,
    UnboundReason,
    Workspace,
    WorkspaceBroken,
    commit_choice,
    ensure_workspace_id,
    find_workspace,
    set_commit_choice,
)
from engine.paths import Home
from tests.support import without_root_rights

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


class Machine:
    """A user's home with SPARK_HOME in it, a folder for projects beside it, and git without anyone's settings."""

    def __init__(self, base: Path) -> None:
        self.base = base.resolve()
        self.user_home = self.folder("home/ada")
        self.home = Home(self.user_home / ".spark-agent")

    def folder(self, name: str) -> Path:
        """A folder below the base, made with its parents."""
        made = self.base / name
        made.mkdir(parents=True, exist_ok=True)
        return made

    def find(self, start: Path, worktrees: str = "shared") -> Workspace | Unbound:
        """What the engine answers for ``start``."""
        assert worktrees in ("shared", "separate")
        return find_workspace(start, self.home, self.user_home, "shared" if worktrees == "shared" else "separate")

    def bound(self, start: Path, worktrees: str = "shared") -> Workspace:
        """The workspace of ``start``, which must have one."""
        found = self.find(start, worktrees)
        assert isinstance(found, Workspace)
        return found

    def git(self, folder: Path, *words: str) -> str:
        """Run git in a folder and answer what it printed."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        author = {"GIT_CONFIG_NOSYSTEM": "1", "HOME": str(self.user_home), "GIT_CEILING_DIRECTORIES": str(self.base)}
        identity = ["-c", "user.name=ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always"]
        done = subprocess.run(
            ["git", *identity, *words], cwd=folder, env=clean | author, check=True, capture_output=True, text=True
        )
        return done.stdout

    def repository(self, name: str, *options: str) -> Path:
        """A repository with one commit."""
        root = self.folder(name)
        self.git(root, "init", "-q", "-b", "main", *options)
        self.git(root, "commit", "-q", "--allow-empty", "-m", "first")
        return root


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def public_machine() -> Iterator[Machine]:
    """A machine in a folder that other users may enter."""
    with tempfile.TemporaryDirectory() as base:
        os.chmod(base, 0o755)
        yield Machine(Path(base))


def test_without_git_the_folder_itself_is_the_project_and_looking_creates_nothing(machine: Machine) -> None:
    deep = machine.folder("work/notes/deep")

    found = machine.bound(deep)

    assert found == Workspace(None, deep, deep / ".spark-agent")
    assert list(deep.iterdir()) == []


@needs_git
def test_inside_a_repository_the_project_is_its_root(machine: Machine) -> None:
    root = machine.repository("work/app")
    (root / "src/deep").mkdir(parents=True)
    (root / "src/main.py").touch()

    for start in (root, root / "src/deep", root / "src/main.py", root / ".git/hooks"):
        assert machine.bound(start).root == root


def test_an_empty_git_folder_is_no_repository(machine: Machine) -> None:
    inner = machine.folder("work/app/inner")
    machine.folder("work/app/.git")

    assert machine.bound(inner).root == inner


@needs_git
def test_links_are_resolved_so_that_one_project_has_one_root(machine: Machine) -> None:
    root = machine.repository("work/app")
    link = machine.base / "short"
    link.symlink_to(root)

    assert machine.bound(link).root == root


def test_home_root_and_everything_of_spark_home_are_never_projects(machine: Machine) -> None:
    inside = machine.folder("home/ada/.spark-agent/memory/user")
    elsewhere = Home(machine.folder("data/spark"))

    assert machine.find(Path("/")) == Unbound(UnboundReason.ROOT, Path("/"))
    assert machine.find(machine.user_home) == Unbound(UnboundReason.USER_HOME, machine.user_home)
    assert machine.find(inside) == Unbound(UnboundReason.SPARK_HOME, inside)
    for start in (elsewhere.root, elsewhere.root.parent):
        assert find_workspace(start, elsewhere, machine.user_home) == Unbound(UnboundReason.SPARK_HOME, start)


def test_a_project_folder_that_links_into_spark_home_is_refused(machine: Machine) -> None:
    machine.folder("home/ada/.spark-agent")
    root = machine.folder("work/app")
    (root / ".spark-agent").symlink_to(machine.home.root)

    assert machine.find(root) == Unbound(UnboundReason.SPARK_HOME, root)


@needs_git
def test_a_repository_over_the_whole_home_makes_no_project_of_the_home(machine: Machine) -> None:
    machine.git(machine.user_home, "init", "-q")
    notes = machine.folder("home/ada/notes")

    assert machine.bound(notes).root == notes
    assert machine.find(machine.user_home) == Unbound(UnboundReason.USER_HOME, machine.user_home)


def test_who_stands_in_the_memory_folder_means_the_project_around_it(machine: Machine) -> None:
    memories = machine.folder("work/app/.spark-agent/memory")

    assert machine.bound(memories).root == machine.base / "work/app"


def test_a_vanished_folder_and_a_loop_of_links_are_unbound_with_the_reason(machine: Machine) -> None:
    gone, loop = machine.base / "gone", machine.base / "loop"
    loop.symlink_to(loop)

    assert machine.find(gone / "deeper") == Unbound(UnboundReason.MISSING, gone / "deeper")
    assert machine.find(loop) == Unbound(UnboundReason.UNREADABLE, loop)


def test_an_unreadable_folder_is_unbound_with_the_reason(public_machine: Machine) -> None:
    closed = public_machine.folder("work/closed")
    inside = public_machine.folder("work/closed/inside")
    closed.chmod(0o000)

    with without_root_rights():
        assert public_machine.find(closed) == Unbound(UnboundReason.UNREADABLE, closed)
        assert public_machine.find(inside) == Unbound(UnboundReason.UNREADABLE, inside)


@needs_git
def test_a_linked_worktree_shares_the_project_of_the_main_checkout(machine: Machine) -> None:
    root = machine.repository("work/app")
    machine.git(root, "worktree", "add", "-q", "../app-feature")
    tree = machine.base / "work/app-feature"
    (tree / "src").mkdir()

    assert machine.bound(tree / "src") == machine.bound(root)
    assert machine.bound(tree, "separate").root == tree


@needs_git
@pytest.mark.parametrize("where", ["main checkout", "worktree"])
def test_once_committed_a_worktree_has_its_own_checked_out_memories(machine: Machine, where: str) -> None:
    root = machine.repository("work/app")
    machine.git(root, "worktree", "add", "-q", "../app-feature")
    tree = machine.base / "work/app-feature"
    holder = machine.bound(root) if where == "main checkout" else machine.bound(tree, "separate")
    ensure_workspace_id(holder, counting_ids())

    set_commit_choice(holder, "committed")

    assert machine.bound(tree).root == tree
    assert machine.bound(root).root == root


@needs_git
def test_a_worktree_with_only_the_committed_id_still_shares(machine: Machine) -> None:
    root = machine.repository("work/app")
    workspace_id = ensure_workspace_id(machine.bound(root), counting_ids())
    machine.git(root, "add", "-A")
    machine.git(root, "commit", "-q", "-m", "the id travels")
    machine.git(root, "worktree", "add", "-q", "../app-feature")
    tree = machine.base / "work/app-feature"

    assert (tree / ".spark-agent/workspace.json").is_file()
    assert machine.bound(tree) == Workspace(workspace_id, root, root / ".spark-agent")
    assert machine.bound(tree, "separate") == Workspace(workspace_id, tree, tree / ".spark-agent")


@needs_git
def test_worktrees_of_a_bare_repository_are_separate(machine: Machine) -> None:
    source = machine.repository("work/app")
    for bare in ("work/app.git", "work/hub/.git"):
        machine.git(machine.base, "clone", "-q", "--bare", str(source), bare)
        one, two = (machine.base / bare).parent / "one", (machine.base / bare).parent / "two"
        machine.git(machine.base / bare, "worktree", "add", "-q", "-b", "one", str(one))
        machine.git(machine.base / bare, "worktree", "add", "-q", "-b", "two", str(two))

        assert machine.bound(one).root == one
        assert machine.bound(two).root == two


@needs_git
def test_with_the_git_directory_elsewhere_checkout_and_worktrees_are_separate(machine: Machine) -> None:
    root = machine.repository("work/app", "--separate-git-dir", str(machine.base / "gitdirs-app"))
    machine.git(root, "worktree", "add", "-q", "../app-feature")
    tree = machine.base / "work/app-feature"

    assert machine.bound(root).root == root
    assert machine.bound(tree).root == tree


@needs_git
def test_a_submodule_is_its_own_project(machine: Machine) -> None:
    library, root = machine.repository("work/library"), machine.repository("work/app")
    machine.git(root, "submodule", "--quiet", "add", str(library), "vendor/library")

    assert machine.bound(root / "vendor/library").root == root / "vendor/library"
    assert machine.bound(root / "vendor").root == root


@pytest.mark.parametrize(
    "content", [b"", b"gitdir: ../gone/.git/worktrees/app\n", b"nonsense", b"\xff\xfe", b"gitdir: \x00"]
)
def test_a_git_file_that_leads_nowhere_still_marks_the_root(machine: Machine, content: bytes) -> None:
    deep = machine.folder("work/app/deep")
    (machine.base / "work/app/.git").write_bytes(content)

    assert machine.bound(deep).root == machine.base / "work/app"


def test_the_first_write_makes_the_id_and_later_writes_keep_it(machine: Machine) -> None:
    root = machine.folder("work/app")
    ids = counting_ids()

    first = ensure_workspace_id(machine.bound(root), ids)

    assert first == "ws_00000001"
    assert json.loads((root / ".spark-agent/workspace.json").read_text()) == {"id": first, "memories": "undecided"}
    assert machine.bound(root).id == first
    assert ensure_workspace_id(machine.bound(root), ids) == first
    assert sorted(path.name for path in (root / ".spark-agent").iterdir()) == [".gitignore", "workspace.json"]


def test_an_id_that_vanished_with_its_file_comes_back_the_same(machine: Machine) -> None:
    root = machine.folder("work/app")
    ensure_workspace_id(machine.bound(root), counting_ids())
    known = machine.bound(root)
    shutil.rmtree(known.folder)

    assert ensure_workspace_id(known, counting_ids(77)) == known.id


def visible_to_git(machine: Machine, root: Path) -> set[str]:
    """What ``git add`` would take from the project's folder."""
    return {Path(line).name for line in machine.git(root, "ls-files", "-o", "--exclude-standard").splitlines()}


@needs_git
def test_git_sees_memories_only_after_someone_said_so(machine: Machine) -> None:
    root = machine.repository("work/app")
    workspace = machine.bound(root)
    ensure_workspace_id(workspace, counting_ids())
    (workspace.folder / "memory").mkdir()
    for name in ("prj_00000001.md", "MEMORY.md", ".prj_00000002.md.abc.tmp"):
        (workspace.folder / "memory" / name).write_text("x")
    hidden = {".gitignore", "workspace.json"}

    assert (commit_choice(workspace), visible_to_git(machine, root)) == ("undecided", hidden)
    set_commit_choice(workspace, "committed")
    assert (commit_choice(workspace), visible_to_git(machine, root)) == ("committed", hidden | {"prj_00000001.md"})
    ensure_workspace_id(workspace, counting_ids())
    assert visible_to_git(machine, root) == hidden | {"prj_00000001.md"}
    set_commit_choice(workspace, "ignored")
    assert (commit_choice(workspace), visible_to_git(machine, root)) == ("ignored", hidden)


def test_a_missing_ignore_rule_is_put_back_before_the_next_write(machine: Machine) -> None:
    workspace = machine.bound(machine.folder("work/app"))
    ensure_workspace_id(workspace, counting_ids())
    rules = (workspace.folder / ".gitignore").read_bytes()
    (workspace.folder / ".gitignore").unlink()

    ensure_workspace_id(workspace, counting_ids())

    assert (workspace.folder / ".gitignore").read_bytes() == rules


def test_ignore_lines_and_keys_of_others_survive_every_choice(machine: Machine) -> None:
    workspace = machine.bound(machine.folder("work/app"))
    workspace.folder.mkdir()
    foreign = b"# mine \xff\r\n!keep.txt\r\n"
    (workspace.folder / ".gitignore").write_bytes(foreign)
    ensure_workspace_id(workspace, counting_ids())
    identity = workspace.folder / "workspace.json"
    identity.write_text(json.dumps(json.loads(identity.read_text()) | {"later": {"名": 1}}), encoding="utf-8")

    for choice in ("committed", "ignored", "undecided", "committed"):
        set_commit_choice(workspace, choice)
        assert (workspace.folder / ".gitignore").read_bytes().startswith(foreign.rstrip())
        assert (workspace.folder / ".gitignore").read_text(errors="replace").count("spark-tui: begin") == 1
        assert json.loads(identity.read_text(encoding="utf-8"))["later"] == {"名": 1}


def test_a_choice_needs_a_project_that_was_written_to_and_a_known_word(machine: Machine) -> None:
    workspace = machine.bound(machine.folder("work/app"))

    with pytest.raises(ValidationFailed):
        set_commit_choice(workspace, "committed")
    with pytest.raises(ValidationFailed, match="not a choice"):
        set_commit_choice(workspace, "maybe")  # type: ignore[arg-type]
    assert not workspace.folder.exists()


BROKEN = [
    b"",
    b"{",
    b'{"id": "ws_0000',
    b"[]",
    b"null",
    b"{}",
    b'{"memories": "ignored"}',
    b'{"id": "../x"}',
    b"\xff\xfe{",
]
BROKEN += [b'{"id": "ws_00000001", "memories": "maybe"}', b"[" * 100_000, b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> x\n"]


@pytest.mark.parametrize("content", BROKEN, ids=range(len(BROKEN)))
def test_a_damaged_identity_file_is_named_and_never_overwritten(machine: Machine, content: bytes) -> None:
    workspace = machine.bound(machine.folder("work/app"))
    workspace.folder.mkdir()
    identity = workspace.folder / "workspace.json"
    identity.write_bytes(content)

    with pytest.raises(WorkspaceBroken) as caught:
        ensure_workspace_id(workspace, counting_ids())
    assert caught.value.details["path"] == str(identity)
    if b"maybe" not in content:
        with pytest.raises(WorkspaceBroken):
            machine.find(workspace.root)
    assert identity.read_bytes() == content


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(content=st.binary(max_size=80))
def test_no_content_of_the_identity_file_is_overwritten_or_fails_untyped(machine: Machine, content: bytes) -> None:
    workspace = Workspace(None, machine.folder("work/app"), machine.folder("work/app/.spark-agent"))
    (workspace.folder / "workspace.json").write_bytes(content)

    with pytest.raises(WorkspaceBroken):
        ensure_workspace_id(workspace, counting_ids())
    assert (workspace.folder / "workspace.json").read_bytes() == content


def test_a_read_only_project_says_so(public_machine: Machine) -> None:
    workspace = public_machine.bound(public_machine.folder("work/app"))
    workspace.root.chmod(0o555)

    with without_root_rights(), pytest.raises(StoreReadOnly):
        ensure_workspace_id(workspace, counting_ids())
    assert list(workspace.root.iterdir()) == []


def test_a_project_that_vanished_is_not_made_again(machine: Machine) -> None:
    workspace = machine.bound(machine.folder("work/app"))
    workspace.root.rmdir()

    with pytest.raises(IoFailed, match="gone"):
        ensure_workspace_id(workspace, counting_ids())
    assert not workspace.root.exists()


RACER = """
import sys
from pathlib import Path
from engine.identity import Ids
from engine.memory.workspaces import find_workspace, ensure_workspace_id
from engine.paths import Home

base = Path(sys.argv[1])
print(flush=True)
sys.stdin.readline()
for number in range(30):
    root = base / f"project-{number}"
    workspace = find_workspace(root, Home(base / "spark" / "home"), base / "user")
    print(ensure_workspace_id(workspace, Ids()), flush=True)
"""


def test_processes_that_write_first_at_the_same_time_agree_on_the_id(machine: Machine) -> None:
    for number in range(30):
        machine.folder(f"race/project-{number}")
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(machine.base / "race")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for _ in range(3)
    ]
    for racer in racers:
        assert racer.stdout is not None
        racer.stdout.readline()
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()

    answers = [racer.communicate()[0].split() for racer in racers]

    assert [racer.returncode for racer in racers] == [0, 0, 0]
    assert answers[0] == answers[1] == answers[2]
    assert len(set(answers[0])) == 30
    for number in range(30):
        names = {path.name for path in (machine.base / f"race/project-{number}/.spark-agent").iterdir()}
        assert names == {".gitignore", "workspace.json"}


def test_ids_come_from_the_source_that_was_handed_in(machine: Machine) -> None:
    workspace = machine.bound(machine.folder("work/app"))

    assert ensure_workspace_id(workspace, Ids(lambda size: b"\xab" * size)) == "ws_abababab"
