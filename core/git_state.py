"""What git says about a working tree, asked so that nothing the repository configures is ever run.

Rules:
- git is run as `git_process` says. Where there is no git, no repository, or no answer in time, the state is
  `unavailable` with a reason.
- Branch and commit come from `rev-parse` and `symbolic-ref`, which read refs; no tag called HEAD is taken
  for it. Dirty is decided by `diff-files`, `diff-index --cached` and `ls-files --others`: tracked content
  that differs, staged changes, untracked files.
- Every filter that any configuration names (includes too) is overridden with empty commands, since git
  compares files of uncertain age through them. Where the filters cannot be listed, or one has a name that
  cannot be overridden, dirty is null with a reason and nothing is compared.
- git waits for a pipe or a device where it expects a file. One at the usual places is named instead;
  elsewhere the time limit ends the wait.

`dirty: false` says that git sees no difference. With filters off, a file that needs its filter to compare
equal can count as changed; a changed one never counts as unchanged.
"""

from __future__ import annotations

import os
import re
import stat

from .git_process import OUTPUT_LIMIT, HarmlessGit, RunningGit, find_git, may_be_asked

LIMIT_SECONDS = 5.0
_MAX_FILTERS = 200
_FILTER_NAME = re.compile(r"[A-Za-z0-9_.+-]+")
_OVERRIDDEN = ("clean=", "process=", "smudge=", "required=false")

# Without it, git gives no name to HEAD where a tag or a branch is called HEAD too.
_FIRST_REF = "core.warnAmbiguousRefs=false"
_ALWAYS_READ = (".git", ".git/HEAD", ".git/config", ".git/packed-refs")
_COMPARED = (".git/index", ".git/info/attributes", ".git/info/exclude", ".gitattributes", ".gitignore")

_DIFF_OPTIONS = ("--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=all")
_UNTRACKED_OPTIONS = ("--others", "--exclude-standard", "--directory", "--no-empty-directory")


class GitState:
    """Branch, commit and dirtiness of a working tree, or why they are not known."""

    __slots__ = ("branch", "commit", "dirty", "reason", "status")

    def __init__(
        self,
        *,
        status: str,
        branch: str | None = None,
        commit: str | None = None,
        dirty: bool | None = None,
        reason: str | None = None,
    ) -> None:
        self.status = status
        self.branch = branch
        self.commit = commit
        self.dirty = dirty
        self.reason = reason

    def document(self) -> dict[str, object]:
        """The state as the runtime evidence packet holds it."""
        return {
            "status": self.status,
            "branch": self.branch,
            "commit": self.commit,
            "dirty": self.dirty,
            "reason": self.reason,
        }


def _unavailable(reason: str) -> GitState:
    return GitState(status="unavailable", reason=reason)


class GitObservation:
    """The git state of the working tree around the absolute folder `root`, within `limit` seconds.

    It is asked in two rounds; the first runs while other work is done.
    """

    def __init__(self, root: str, *, limit: float = LIMIT_SECONDS) -> None:
        self._git: HarmlessGit | None = None
        self._top = ""
        self._asked: list[RunningGit] = []
        self._state = self._begin(root, limit)

    def _begin(self, root: str, limit: float) -> GitState | None:
        top = _worktree(root)
        if top is None:
            return _unavailable("there is no git repository here")
        if not hasattr(os, "posix_spawn"):
            return _unavailable("this system offers no way to start git that is safe here")
        program = find_git(top)
        if program is None:
            return _unavailable("git is not installed on this machine")
        if not may_be_asked(top):
            return _unavailable("the repository is owned by somebody else")
        odd = _odd_file(top, _ALWAYS_READ)
        if odd is not None:
            return _unavailable(f"{odd} is neither a file nor a folder, so git was not asked")
        self._top = top
        self._git = git = HarmlessGit(program, top, limit)
        self._asked = [
            git.start("rev-parse", "HEAD", "--symbolic-full-name", "HEAD", overrides=[_FIRST_REF]),
            git.start("config", "--null", "--name-only", "--get-regexp", r"^filter\."),
        ]
        return None

    def result(self) -> GitState:
        """The state, as soon as it is known."""
        if self._state is None and self._git is not None:
            self._state = _observe(self._git, self._top, *self._asked)
        assert self._state is not None
        return self._state

    def close(self) -> None:
        """Stop what is still running; the state is no longer wanted."""
        for question in self._asked:
            question.stop()


def _worktree(root: str) -> str | None:
    """The nearest folder from `root` upwards that holds a `.git`."""
    folder = root
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _odd_file(top: str, names: tuple[str, ...]) -> str | None:
    """The first of `names` below `top` that is a pipe, a socket or a device."""
    for name in names:
        try:
            mode = os.stat(os.path.join(top, name)).st_mode
        except OSError:
            continue
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return name
    return None


def _observe(git: HarmlessGit, top: str, head: RunningGit, names: RunningGit) -> GitState:
    code, output = head.finish()
    if code is None:
        names.stop()
        return _unavailable(git.no_answer())
    commit, branch = _head(output) if code == 0 else _unborn(git)
    if commit is None and branch is None:
        names.stop()
        return _unavailable("git cannot read the repository: it is broken, or owned by somebody else")
    odd = _odd_file(top, _COMPARED)
    if odd is not None:
        names.stop()
        reason = f"{odd} is neither a file nor a folder, so nothing was compared"
        return GitState(status="available", branch=branch, commit=commit, reason=reason)
    dirty, unknown = _dirty(git, names, born=commit is not None)
    return GitState(status="available", branch=branch, commit=commit, dirty=dirty, reason=unknown)


def _head(output: bytes) -> tuple[str | None, str | None]:
    lines = output.decode("utf-8", "replace").split("\n")
    commit, ref = lines[0], lines[1] if len(lines) > 1 else ""
    return commit or None, _branch(ref)


def _branch(ref: str) -> str | None:
    return ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else None


def _unborn(git: HarmlessGit) -> tuple[None, str | None]:
    """The branch of a repository without a commit; None where there is no such thing."""
    code, output = git.start("symbolic-ref", "--quiet", "HEAD").finish()
    return None, _branch(output.decode("utf-8", "replace").strip()) if code == 0 else None


def _dirty(git: HarmlessGit, names: RunningGit, *, born: bool) -> tuple[bool | None, str | None]:
    code, output = names.finish()
    if code is None or code not in (0, 1):
        return None, git.no_answer() if code is None else "git cannot list the configured filters"
    overrides = _filter_overrides(output)
    if overrides is None:
        return None, "a filter is configured that cannot be switched off, so nothing was compared"
    return _compared(git, overrides, born=born)


def _filter_overrides(output: bytes) -> list[str] | None:
    """The options that empty every filter named in `output`; None where one cannot be named safely."""
    names = set()
    for key in output.decode("utf-8", "surrogateescape").split("\0"):
        name, dot, _ = key.removeprefix("filter.").rpartition(".")
        if not dot:
            continue
        # A name with `=` would end the key of `-c` early and leave the filter as it is; an empty one counts.
        if _FILTER_NAME.fullmatch(name) is None:
            return None
        names.add(name)
    if len(names) > _MAX_FILTERS or len(output) >= OUTPUT_LIMIT:
        return None
    return [f"filter.{name}.{setting}" for name in sorted(names) for setting in _OVERRIDDEN]


def _compared(git: HarmlessGit, overrides: list[str], *, born: bool) -> tuple[bool | None, str | None]:
    staged = (
        ("diff-index", "--cached", "--quiet", *_DIFF_OPTIONS, "HEAD") if born else ("ls-files", "--cached")
    )
    questions = [
        (_has_patch, git.start("diff-files", "-p", *_DIFF_OPTIONS, overrides=overrides)),
        (
            _differs if born else _has_output,
            git.start(*staged, overrides=overrides),
        ),
        (_has_output, git.start("ls-files", *_UNTRACKED_OPTIONS, overrides=overrides)),
    ]
    answers = []
    for position, (answer, question) in enumerate(questions):
        answers.append(answer(question))
        if answers[-1]:
            for _, other in questions[position + 1 :]:
                other.stop()
            return True, None
    if None in answers:
        return None, git.no_answer() if git.late() else "git could not compare the working tree"
    return False, None


def _has_patch(question: RunningGit) -> bool | None:
    # A file that was only touched gives no patch, or a bare header.
    code, output = question.finish(enough=_shows_change)
    if _shows_change(output):
        return True
    return False if code == 0 else None


def _shows_change(output: bytes) -> bool:
    return any(line and not line.startswith(b"diff --git ") for line in output.split(b"\n")[:-1])


def _has_output(question: RunningGit) -> bool | None:
    code, output = question.finish(enough=bool)
    if output:
        return True
    return False if code == 0 else None


def _differs(question: RunningGit) -> bool | None:
    code, _ = question.finish()
    return {0: False, 1: True}.get(code) if code is not None else None
