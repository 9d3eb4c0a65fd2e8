"""What git says about a working tree, asked so that nothing the repository configures is ever run.

Rules:
- git is the first one on PATH by an absolute folder outside the inspected repository. Where there is none, no
  repository, or no answer in time, the state is `unavailable` with a reason.
- Branch and commit come from `rev-parse` and `symbolic-ref`, which read refs. Dirty is decided by
  `diff-files`, `diff-index --cached` and `ls-files --others`: tracked content that differs, staged changes,
  untracked files.
- The file-system monitor, hooks, external diffs, textconv, submodules and lazy fetches are off. Every filter
  that any configuration names (includes too) is overridden with empty commands, since git compares files of
  uncertain age through them; where that cannot be done, dirty is null with a reason and nothing is compared.
- The environment's GIT_ variables are dropped, the worktree is the folder that holds `.git` whatever the
  configuration says, no lock is taken and nothing is written.
- All of it takes LIMIT_SECONDS at most; then every process that was started is killed. Output is bounded.

`dirty: false` says that git sees no difference; with filters off, a file that needs its filter to compare
equal can count as changed, never a changed one as unchanged.
"""

from __future__ import annotations

import os
import re
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    import threading
    from collections.abc import Callable

LIMIT_SECONDS = 5.0
_OUTPUT_LIMIT = 1024 * 1024
_MAX_FILTERS = 200
_FILTER_NAME = re.compile(r"[A-Za-z0-9_.+-]+")
_PROGRAM_NAMES = ("git.exe",) if os.name == "nt" else ("git",)
_OVERRIDDEN = ("clean=", "process=", "smudge=", "required=false")

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


def observe_git(root: str, *, limit: float = LIMIT_SECONDS) -> GitState:
    """The git state of the working tree around the absolute folder `root`, within `limit` seconds."""
    top = _worktree(root)
    if top is None:
        return _unavailable("there is no git repository here")
    program = _find_git(top)
    if program is None:
        return _unavailable("git is not installed on this machine")
    return _observe(_Git(program, top, time.monotonic() + limit))


class GitObservation:
    """The git state of a root, observed in the background while other work is done."""

    def __init__(self, root: str) -> None:
        import threading

        self._state = _unavailable("the observation did not finish")
        self._thread = threading.Thread(target=self._observe, args=(root,), daemon=True)
        self._thread.start()

    def _observe(self, root: str) -> None:
        self._state = observe_git(root)

    def result(self) -> GitState:
        """The state, as soon as it is known."""
        self._thread.join()
        return self._state


def _worktree(root: str) -> str | None:
    """The nearest folder from `root` upwards that holds a `.git`."""
    folder = root
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _outside_folders(top: str) -> list[str]:
    """The folders of PATH that a repository at `top` cannot reach into."""
    inside = os.path.join(os.path.realpath(top), "")
    return [
        folder
        for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(folder) and not os.path.join(os.path.realpath(folder), "").startswith(inside)
    ]


def _find_git(top: str) -> str | None:
    for folder in _outside_folders(top):
        for name in _PROGRAM_NAMES:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return path
    return None


def _observe(git: _Git) -> GitState:
    head = git.start("rev-parse", "HEAD", "--symbolic-full-name", "HEAD")
    names = git.start("config", "--null", "--name-only", "--get-regexp", r"^filter\.")
    code, output = head.finish()
    if code is None:
        names.stop()
        return _unavailable(git.silence)
    commit, branch = _head(output) if code == 0 else _unborn(git)
    if commit is None and branch is None:
        names.stop()
        return _unavailable("git cannot read the repository; `git status` there tells why")
    dirty, reason = _dirty(git, names, born=commit is not None)
    return GitState(status="available", branch=branch, commit=commit, dirty=dirty, reason=reason)


def _head(output: bytes) -> tuple[str | None, str | None]:
    lines = output.decode("utf-8", "replace").split("\n")
    commit, ref = lines[0], lines[1] if len(lines) > 1 else ""
    return commit or None, _branch(ref)


def _branch(ref: str) -> str | None:
    return ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else None


def _unborn(git: _Git) -> tuple[None, str | None]:
    """The branch of a repository without a commit; None where there is no such thing."""
    code, output = git.start("symbolic-ref", "--quiet", "HEAD").finish()
    return None, _branch(output.decode("utf-8", "replace").strip()) if code == 0 else None


def _dirty(git: _Git, names: _Running, *, born: bool) -> tuple[bool | None, str | None]:
    code, output = names.finish()
    if code is None or code not in (0, 1):
        return None, git.silence if code is None else "git cannot list the configured filters"
    overrides = _filter_overrides(output)
    if overrides is None:
        return None, "a filter is configured that cannot be switched off, so nothing was compared"
    return _compared(git, overrides, born=born)


def _filter_overrides(output: bytes) -> list[str] | None:
    """The options that empty every filter named in `output`; None where one cannot be named safely."""
    names = set()
    for key in output.decode("utf-8", "surrogateescape").split("\0"):
        name = key.removeprefix("filter.").rpartition(".")[0]
        if not name:
            continue
        # A name with `=` would end the key of `-c` early and leave the filter as it is.
        if _FILTER_NAME.fullmatch(name) is None:
            return None
        names.add(name)
    if len(names) > _MAX_FILTERS or len(output) >= _OUTPUT_LIMIT:
        return None
    return [f"filter.{name}.{setting}" for name in sorted(names) for setting in _OVERRIDDEN]


def _compared(git: _Git, overrides: list[str], *, born: bool) -> tuple[bool | None, str | None]:
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
        return None, git.silence if git.late() else "git could not compare the working tree"
    return False, None


def _has_patch(question: _Running) -> bool | None:
    # A file that was only touched gives no patch, or a bare header.
    code, output = question.finish(enough=_shows_change)
    if _shows_change(output):
        return True
    return False if code == 0 else None


def _shows_change(output: bytes) -> bool:
    return any(line and not line.startswith(b"diff --git ") for line in output.split(b"\n")[:-1])


def _has_output(question: _Running) -> bool | None:
    code, output = question.finish(enough=bool)
    if output:
        return True
    return False if code == 0 else None


def _differs(question: _Running) -> bool | None:
    code, _ = question.finish()
    return {0: False, 1: True}.get(code) if code is not None else None


class _Git:
    """One git program and one working tree, with the options that make it harmless, and one deadline."""

    silence = f"git did not answer within {LIMIT_SECONDS:g} seconds"

    def __init__(self, program: str, top: str, deadline: float) -> None:
        self._deadline = deadline
        self._command = [program, "-C", top, f"--work-tree={top}", "--no-optional-locks", "--no-pager"]
        self._settings = ["core.fsmonitor=", f"core.hooksPath={os.devnull}"]
        kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("GIT_")}
        self._environment = {
            **kept,
            "PATH": os.pathsep.join(_outside_folders(top)),
            "LC_ALL": "C",
            "GIT_CEILING_DIRECTORIES": os.path.dirname(top),
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            # A partial clone would fetch what it lacks, through commands that its configuration names.
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
        }

    def late(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._deadline

    def start(self, *arguments: str, overrides: list[str] | None = None) -> _Running:
        """Start one question; `overrides` are further settings as `key=value`."""
        import subprocess

        settings = [word for setting in (*self._settings, *(overrides or ())) for word in ("-c", setting)]
        try:
            process = subprocess.Popen(
                [*self._command, *settings, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environment,
                start_new_session=True,
            )
        except OSError:
            return _Running(None, self._deadline)
        return _Running(process, self._deadline)


class _Running:
    """One running git, killed at the deadline with everything that it started."""

    def __init__(self, process: subprocess.Popen[bytes] | None, deadline: float) -> None:
        self._process = process
        self._timer = None if process is None else self._watch(deadline)

    def _watch(self, deadline: float) -> threading.Timer:
        import threading

        timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._kill)
        timer.daemon = True
        timer.start()
        return timer

    def _kill(self) -> None:
        import signal

        process = self._process
        if process is None or process.returncode is not None:
            return
        try:
            if os.name == "nt":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            return

    def finish(self, enough: Callable[[bytes], bool] | None = None) -> tuple[int | None, bytes]:
        """The exit code and the output; the code is None where the process had to be killed or never ran.

        The process is stopped early when `enough` says so of the output, or the output grows past its limit.
        """
        process = self._process
        if process is None or process.stdout is None:
            return None, b""
        output = b""
        while chunk := os.read(process.stdout.fileno(), 65536):
            output += chunk
            if len(output) >= _OUTPUT_LIMIT or (enough is not None and enough(output)):
                self._kill()
                break
        code = self._reap()
        return code if code >= 0 else None, output

    def stop(self) -> None:
        """Kill the process; its answer is not needed."""
        self._kill()
        if self._process is not None:
            self._reap()

    def _reap(self) -> int:
        process = self._process
        assert process is not None
        try:
            return process.wait()
        finally:
            if self._timer is not None:
                self._timer.cancel()
            if process.stdout is not None:
                process.stdout.close()
