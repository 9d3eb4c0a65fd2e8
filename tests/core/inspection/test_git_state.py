"""Asking git about a repository runs nothing that the repository configures.

Every attack below sets up a command that would leave a file `marker` beside the repository; first it is shown
that a plain `git status` runs it, so that the attack is known to work on this machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evals_cli.core import git_process, git_state
from evals_cli.core.git_state import LIMIT_SECONDS, GitObservation, GitState

if TYPE_CHECKING:
    from collections.abc import Callable

GIT = shutil.which("git")
ENVIRONMENT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example",
}


def _git(folder: Path, *arguments: str) -> str:
    assert GIT is not None
    done = subprocess.run(
        [GIT, "-C", str(folder), "-c", "protocol.file.allow=always", *arguments],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit of one file."""
    monkeypatch.setenv("HOME", "/nonexistent")
    root = tmp_path / "repo"
    root.mkdir()
    _git(root, "init", "-q", "-b", "trunk")
    (root / "file").write_text("one\n")
    _git(root, "add", ".")
    _git(root, "commit", "-q", "-m", "one")
    return root


def _tree(root: Path) -> dict[str, tuple[int, int, bytes | None]]:
    found = {}
    for path in (root, *root.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else None
        found[str(path)] = (status.st_mode, status.st_mtime_ns, content)
    return found


def observe_git(root: str, *, limit: float = LIMIT_SECONDS) -> GitState:
    return GitObservation(root, limit=limit).result()


def test_a_clean_repository_tells_branch_and_commit(repo: Path) -> None:
    state = observe_git(str(repo))
    assert state.document() == {
        "status": "available",
        "branch": "trunk",
        "commit": _git(repo, "rev-parse", "HEAD"),
        "dirty": False,
        "reason": None,
    }


def test_a_folder_below_the_repository_is_told_the_same(repo: Path) -> None:
    (repo / "below").mkdir()
    assert observe_git(str(repo / "below")).branch == "trunk"


@pytest.mark.parametrize(
    "change",
    [
        lambda repo: (repo / "file").write_text("two\n"),
        lambda repo: (repo / "file").unlink(),
        lambda repo: (repo / "file").chmod(0o755),
        lambda repo: (repo / "new").write_text("untracked"),
        lambda repo: _stage(repo, "new"),
    ],
    ids=["content", "deleted", "mode", "untracked", "staged"],
)
def test_a_change_makes_it_dirty(repo: Path, change: Callable[[Path], object]) -> None:
    change(repo)
    assert observe_git(str(repo)).dirty is True


def _stage(repo: Path, name: str) -> None:
    (repo / name).write_text("staged")
    _git(repo, "add", name)


def test_a_file_that_was_only_touched_is_no_change(repo: Path) -> None:
    os.utime(repo / "file", (1, 1))
    assert observe_git(str(repo)).dirty is False


def test_an_ignored_file_is_no_change(repo: Path) -> None:
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/exclude").write_text("ignored\n")
    (repo / "ignored").write_text("x")
    assert observe_git(str(repo)).dirty is False


def test_a_detached_head_has_no_branch(repo: Path) -> None:
    _git(repo, "checkout", "-q", "--detach")
    state = observe_git(str(repo))
    assert (state.branch, state.commit, state.dirty) == (None, _git(repo, "rev-parse", "HEAD"), False)


def test_before_the_first_commit_there_is_a_branch_only(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q", "-b", "trunk")
    state = observe_git(str(tmp_path))
    assert (state.status, state.branch, state.commit, state.dirty) == ("available", "trunk", None, False)
    _stage(tmp_path, "new")
    assert observe_git(str(tmp_path)).dirty is True


def test_a_worktree_with_a_git_file_is_told(repo: Path, tmp_path: Path) -> None:
    _git(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    assert observe_git(str(tmp_path / "side")).branch == "side"


def test_without_a_repository_git_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "posix_spawn", lambda *_: pytest.fail("git was started"))
    state = observe_git(str(tmp_path))
    assert (state.status, state.reason) == ("unavailable", "there is no git repository here")


def test_without_git_the_state_is_unavailable(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    state = observe_git(str(repo))
    assert (state.status, state.reason) == ("unavailable", "git is not installed on this machine")


def test_a_system_that_cannot_start_git_safely_says_so(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "posix_spawn")
    assert observe_git(str(repo)).status == "unavailable"


def test_a_git_that_cannot_be_started_is_unavailable(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_arguments: object, **_options: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "posix_spawn", denied)
    state = observe_git(str(repo))
    assert (state.status, state.reason) == ("unavailable", "git could not be run")


def test_without_a_free_descriptor_the_state_is_unavailable(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted() -> tuple[int, int]:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "pipe", exhausted)
    assert observe_git(str(repo)).reason == "git could not be run"


def test_a_broken_repository_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    state = observe_git(str(tmp_path))
    assert state.status == "unavailable"
    assert "broken, or owned by somebody else" in str(state.reason)


def test_a_broken_index_leaves_dirty_open(repo: Path) -> None:
    (repo / ".git/index").write_bytes(b"DIRC broken")
    state = observe_git(str(repo))
    assert (state.status, state.dirty) == ("available", None)
    assert state.reason == "git could not compare the working tree"


def test_the_callers_git_variables_do_not_count(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "touch marker")
    assert observe_git(str(repo)).dirty is False


def test_a_worktree_that_is_configured_elsewhere_does_not_count(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    _git(repo, "config", "core.worktree", str(tmp_path / "elsewhere"))
    assert observe_git(str(repo)).dirty is False


def test_a_git_inside_the_repository_is_never_run(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repo / "bin"
    folder.mkdir()
    program = folder / "git"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path / 'marker'}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), "bin", "", ".", os.environ["PATH"]]))
    monkeypatch.chdir(repo)
    assert observe_git(str(repo)).status == "available"
    assert not (tmp_path / "marker").exists()


def _command(tmp_path: Path, *, pipe: bool = False) -> str:
    script = tmp_path / "attack"
    script.write_text(f"#!/bin/sh\ntouch '{tmp_path / 'marker'}'\n{'exec cat' if pipe else ''}\n")
    script.chmod(0o755)
    return str(script)


def _age(repo: Path, name: str = "file") -> None:
    """Make the index entry of a file racy: its content must be compared, through any filter."""
    status = (repo / ".git/index").stat()
    os.utime(repo / name, ns=(status.st_atime_ns, status.st_mtime_ns))
    _git(repo, "update-index", "--refresh")
    os.utime(repo / ".git/index", ns=(status.st_atime_ns, status.st_mtime_ns))


def _fsmonitor(repo: Path, tmp_path: Path) -> Path:
    _git(repo, "config", "core.fsmonitor", _command(tmp_path))
    return repo


def _filter(repo: Path, tmp_path: Path, kind: str = "clean") -> Path:
    _git(repo, "config", f"filter.evil.{kind}", _command(tmp_path, pipe=True))
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/attributes").write_text("* filter=evil\n")
    _age(repo)
    return repo


def _process_filter(repo: Path, tmp_path: Path) -> Path:
    return _filter(repo, tmp_path, "process")


def _included_filter(repo: Path, tmp_path: Path) -> Path:
    command = _command(tmp_path, pipe=True)
    (repo / ".git/more").write_text(f'[filter "evil"]\n\tclean = {command}\n\trequired = true\n')
    _git(repo, "config", "include.path", "more")
    (repo / ".gitattributes").write_text("file filter=evil\n")
    _age(repo)
    return repo


def _attributes_file(repo: Path, tmp_path: Path) -> Path:
    _git(repo, "config", "filter.a.b.c.clean", _command(tmp_path, pipe=True))
    (tmp_path / "attributes").write_text("* filter=a.b.c\n")
    _git(repo, "config", "core.attributesFile", str(tmp_path / "attributes"))
    _age(repo)
    return repo


def _submodule(repo: Path, tmp_path: Path) -> Path:
    inner = tmp_path / "inner"
    inner.mkdir()
    _git(inner, "init", "-q")
    (inner / "file").write_text("one\n")
    _git(inner, "add", ".")
    _git(inner, "commit", "-q", "-m", "one")
    _git(repo, "submodule", "--quiet", "add", str(inner), "sub")
    _git(repo, "commit", "-q", "-m", "sub")
    module = repo / ".git/modules/sub"
    command = _command(tmp_path, pipe=True)
    _git(repo / "sub", "config", "filter.evil.clean", command)
    (module / "info").mkdir(exist_ok=True)
    (module / "info/attributes").write_text("* filter=evil\n")
    status = (module / "index").stat()
    os.utime(repo / "sub/file", ns=(status.st_atime_ns, status.st_mtime_ns))
    _git(repo / "sub", "update-index", "--refresh")
    os.utime(module / "index", ns=(status.st_atime_ns, status.st_mtime_ns))
    return repo


ATTACKS = [_fsmonitor, _filter, _process_filter, _included_filter, _attributes_file, _submodule]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__.strip("_"))
def test_an_attack_that_git_status_falls_for_leaves_no_mark(
    repo: Path, tmp_path: Path, attack: Callable[[Path, Path], Path]
) -> None:
    marker = tmp_path / "marker"
    root = attack(repo, tmp_path)
    marker.unlink(missing_ok=True)
    before = _tree(root)
    state = observe_git(str(root))
    assert state.status == "available"
    assert not marker.exists(), "the configured command ran"
    assert _tree(root) == before, "the repository was changed"
    subprocess.run([str(GIT), "-C", str(root), "status"], env=ENVIRONMENT, capture_output=True, check=False)
    assert marker.exists(), "the attack does not work on this machine, so nothing was proved"


def _external_diff(repo: Path, command: str) -> None:
    _git(repo, "config", "diff.external", command)


def _diff_driver(repo: Path, command: str) -> None:
    _git(repo, "config", "diff.evil.command", command)
    (repo / ".gitattributes").write_text("* diff=evil\n")


def _textconv(repo: Path, command: str) -> None:
    _git(repo, "config", "diff.evil.textconv", command)
    (repo / ".gitattributes").write_text("* diff=evil\n")


def _hooks(repo: Path, command: str) -> None:
    for hook in ("post-index-change", "pre-commit", "reference-transaction"):
        shutil.copy(command, repo / ".git/hooks" / hook)


def _pager(repo: Path, command: str) -> None:
    _git(repo, "config", "core.pager", command)
    _git(repo, "config", "pager.diff-files", "true")
    _git(repo, "config", "alias.ls-files", f"!{command}")


@pytest.mark.parametrize("attack", [_external_diff, _diff_driver, _textconv, _hooks, _pager])
def test_no_other_configured_command_runs_either(
    repo: Path, tmp_path: Path, attack: Callable[[Path, str], None]
) -> None:
    command = _command(tmp_path)
    (repo / ".git/hooks").mkdir(exist_ok=True)
    attack(repo, command)
    (repo / "file").write_text("two\n")
    (tmp_path / "marker").unlink(missing_ok=True)
    assert observe_git(str(repo)).dirty is True
    assert not (tmp_path / "marker").exists()


def test_a_partial_clone_fetches_nothing(repo: Path, tmp_path: Path) -> None:
    command = _command(tmp_path)
    tree = _git(repo, "rev-parse", "HEAD^{tree}")
    _git(repo, "config", "core.repositoryformatversion", "1")
    _git(repo, "config", "extensions.partialClone", "origin")
    _git(repo, "config", "remote.origin.url", f"ext::{command}")
    _git(repo, "config", "remote.origin.promisor", "true")
    _git(repo, "config", "protocol.ext.allow", "always")
    (repo / ".git/objects" / tree[:2] / tree[2:]).unlink()
    state = observe_git(str(repo))
    assert (state.status, state.dirty) == ("available", None)
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize("name", ["a=b", "ünï", "a b", ""])
def test_a_filter_whose_name_cannot_be_overridden_leaves_dirty_open(
    repo: Path, tmp_path: Path, name: str
) -> None:
    command = _command(tmp_path, pipe=True)
    with open(repo / ".git/config", "a", encoding="utf-8") as config:
        config.write(f'[filter "{name}"]\n\tclean = {command}\n')
    state = observe_git(str(repo))
    assert (state.status, state.dirty) == ("available", None)
    assert "cannot be switched off" in str(state.reason)
    assert not (tmp_path / "marker").exists()


def test_a_filter_section_without_a_name_is_no_filter(repo: Path) -> None:
    _git(repo, "config", "filter.clean", "false")
    assert observe_git(str(repo)).dirty is False


def test_too_many_filters_leave_dirty_open(repo: Path) -> None:
    with open(repo / ".git/config", "a", encoding="utf-8") as config:
        config.writelines(f'[filter "f{number}"]\n\tclean = cat\n' for number in range(300))
    assert "cannot be switched off" in str(observe_git(str(repo)).reason)


def test_filters_that_cannot_be_listed_leave_dirty_open(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = git_process.HarmlessGit.start

    def refused(self: git_process.HarmlessGit, *arguments: str, **options: list[str]) -> object:
        if arguments[0] == "config":
            arguments = ("config", "--no-such-option")
        return start(self, *arguments, **options)

    monkeypatch.setattr(git_process.HarmlessGit, "start", refused)
    assert observe_git(str(repo)).reason == "git cannot list the configured filters"


def test_a_repository_that_makes_git_hang_costs_the_limit_and_no_more(repo: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    _git(repo, "config", "include.path", str(tmp_path / "fifo"))
    started = time.monotonic()
    state = observe_git(str(repo), limit=0.2)
    assert time.monotonic() - started < 3
    assert (state.status, state.reason) == ("unavailable", "git did not answer within 0.2 seconds")


def test_a_comparison_that_hangs_leaves_dirty_open(repo: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    _git(repo, "config", "core.excludesFile", str(tmp_path / "fifo"))
    state = observe_git(str(repo), limit=0.5)
    assert (state.status, state.branch, state.dirty) == ("available", "trunk", None)
    assert state.reason == "git did not answer within 0.5 seconds"


def test_a_listing_of_filters_that_hangs_leaves_dirty_open(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_process.RunningGit, "finish", _slow_config(git_process.RunningGit.finish))
    state = observe_git(str(repo), limit=0.3)
    assert (state.status, state.dirty) == ("available", None)


def _slow_config(finish: Callable[..., tuple[int | None, bytes]]) -> Callable[..., tuple[int | None, bytes]]:
    calls: list[int] = []

    def slow(self: git_process.RunningGit, *arguments: object) -> tuple[int | None, bytes]:
        calls.append(1)
        code, output = finish(self, *arguments)
        return (None, b"") if len(calls) == 2 else (code, output)

    return slow


def test_a_git_that_talks_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/git"
    program.write_text("#!/bin/sh\nexec cat /dev/zero\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    state = observe_git(str(tmp_path / "repo"))
    assert (state.status, state.reason) == ("unavailable", "git could not be run")


def test_a_git_that_closes_its_output_and_stays_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/git"
    program.write_text("#!/bin/sh\nexec >&-\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    state = observe_git(str(tmp_path / "repo"), limit=0.2)
    assert state.reason == "git did not answer within 0.2 seconds"


def test_an_observation_that_is_not_wanted_leaves_nothing_running(repo: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    _git(repo, "config", "include.path", str(tmp_path / "fifo"))
    observation = GitObservation(str(repo))
    observation.close()
    observation.close()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_process_that_somebody_else_reaped_has_no_answer(repo: Path) -> None:
    git = git_process.HarmlessGit(str(GIT), str(repo), 5.0)
    question = git.start("rev-parse", "HEAD")
    os.waitpid(-1, 0)
    assert question.finish()[0] is None


def test_a_head_that_names_no_branch_gives_none() -> None:
    assert git_state._branch("refs/tags/x") is None
    assert git_state._head(b"c0ffee") == ("c0ffee", None)


def test_a_tag_that_is_called_head_hides_no_branch(repo: Path) -> None:
    _git(repo, "checkout", "-q", "-b", "feature")
    _git(repo, "update-ref", "refs/tags/HEAD", _git(repo, "rev-parse", "feature"))
    state = observe_git(str(repo))
    assert (state.branch, state.commit) == ("feature", _git(repo, "rev-parse", "feature"))


@pytest.fixture
def under_a_colon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in a folder with a colon in its name, inside another repository."""
    monkeypatch.setenv("HOME", "/nonexistent")
    outer = tmp_path / "out:er"
    for root, branch in ((outer, "outer"), (outer / "inner", "inner")):
        root.mkdir()
        _git(root, "init", "-q", "-b", branch)
        (root / "file").write_text("one\n")
        _git(root, "add", "file")
        _git(root, "commit", "-q", "-m", "one")
    return outer / "inner"


def test_a_colon_above_the_repository_changes_nothing(under_a_colon: Path) -> None:
    state = observe_git(str(under_a_colon))
    assert (state.branch, state.dirty) == ("inner", False)
    (under_a_colon / "file").write_text("two\n")
    assert observe_git(str(under_a_colon)).dirty is True
    _git(under_a_colon, "worktree", "add", "-q", "-b", "side", str(under_a_colon.parent / "side"))
    assert observe_git(str(under_a_colon.parent / "side")).branch == "side"


def test_a_broken_repository_under_a_colon_is_not_taken_for_the_one_around_it(under_a_colon: Path) -> None:
    shutil.rmtree(under_a_colon / ".git")
    (under_a_colon / ".git").mkdir()
    state = observe_git(str(under_a_colon))
    assert (state.status, state.branch) == ("unavailable", None)
    assert "cannot read the repository" in str(state.reason)


def test_somebody_elses_repository_under_a_colon_is_not_read(
    under_a_colon: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: under_a_colon.stat().st_uid + 1)
    state = observe_git(str(under_a_colon))
    assert (state.status, state.reason) == ("unavailable", "the repository is owned by somebody else")


@pytest.mark.parametrize("name", [".gitattributes", ".gitignore", ".git/index", ".git/info/exclude"])
def test_a_pipe_where_git_compares_is_named_at_once(repo: Path, name: str) -> None:
    (repo / name).unlink(missing_ok=True)
    (repo / name).parent.mkdir(exist_ok=True)
    os.mkfifo(repo / name)
    state = observe_git(str(repo))
    assert (state.status, state.branch, state.dirty) == ("available", "trunk", None)
    assert state.reason == f"{name} is neither a file nor a folder, so nothing was compared"


@pytest.mark.parametrize("name", [".git/HEAD", ".git/config"])
def test_a_pipe_that_git_always_reads_keeps_git_from_being_asked(
    repo: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (repo / name).unlink()
    os.mkfifo(repo / name)
    monkeypatch.setattr(os, "posix_spawn", lambda *_: pytest.fail("git was started"))
    state = observe_git(str(repo))
    assert (state.status, state.reason) == (
        "unavailable",
        f"{name} is neither a file nor a folder, so git was not asked",
    )
