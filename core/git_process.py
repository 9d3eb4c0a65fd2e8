"""Running git on a repository that may be hostile: nothing that it configures is run, and time is limited.

Rules:
- git is the first one on PATH by an absolute folder outside the inspected repository.
- The file-system monitor and hooks are off by options that outrank every configuration; lazy fetches and all
  transports are off by the environment, in which every other GIT_ variable is dropped. No lock is taken.
- The worktree is the folder that holds `.git`, whatever the configuration says, and git looks no further up
  for a repository. A ceiling says so; where the path above has a colon, which no ceiling can hold, the `.git`
  is named, and then must belong to the user, since git does not ask that of one that is named.
- A process that is late, or not needed any more, is killed with everything that it started. Its output is
  bounded, and its words on stderr are not read.

Which questions are safe to ask under these rules is decided by `git_state`.
"""

from __future__ import annotations

import contextlib
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

OUTPUT_LIMIT = 1024 * 1024
_KILL = 9  # SIGKILL; the module `signal` costs more at start-up than asking git does


def _outside_folders(top: str) -> list[str]:
    """The folders of PATH that a repository at `top` cannot reach into."""
    inside = os.path.join(os.path.realpath(top), "")
    return [
        folder
        for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(folder) and not os.path.join(os.path.realpath(folder), "").startswith(inside)
    ]


def find_git(top: str) -> str | None:
    """The absolute path of the first git on PATH outside the repository at `top`; None without one."""
    for folder in _outside_folders(top):
        path = os.path.join(folder, "git")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def may_be_asked(top: str) -> bool:
    """Whether git may be started on the repository at `top`, whose owner git looks at itself, or not."""
    if os.pathsep not in os.path.dirname(top):
        return True
    return all(os.lstat(path).st_uid == os.geteuid() for path in (top, os.path.join(top, ".git")))


class HarmlessGit:
    """One git program and one working tree, with the options that make it harmless, and one deadline."""

    def __init__(self, program: str, top: str, limit: float) -> None:
        self._limit = limit
        self._deadline = time.monotonic() + limit
        self._program = program
        self._command = [program, "-C", top, f"--work-tree={top}", "--no-optional-locks", "--no-pager"]
        if os.pathsep in os.path.dirname(top):
            self._command.append(f"--git-dir={os.path.join(top, '.git')}")
        self._settings = ["core.fsmonitor=", f"core.hooksPath={os.devnull}"]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
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

    def no_answer(self) -> str:
        """Why a git gave no exit code."""
        return f"git did not answer within {self._limit:g} seconds" if self.late() else "git could not be run"

    def start(self, *arguments: str, overrides: list[str] | None = None) -> RunningGit:
        """Start one question; `overrides` are further settings as `key=value`."""
        settings = [word for setting in (*self._settings, *(overrides or ())) for word in ("-c", setting)]
        try:
            reading, writing = os.pipe()
        except OSError:
            return RunningGit(None, -1, self._deadline)
        try:
            # A group of its own, so that everything it started can be killed; far cheaper than `subprocess`.
            pid = os.posix_spawn(
                self._program,
                [*self._command, *settings, *arguments],
                self._environment,
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, writing, 1),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setpgroup=0,
            )
        except OSError:
            pid = None
        finally:
            os.close(writing)
        return RunningGit(pid, reading, self._deadline)


class RunningGit:
    """One running git, killed with everything that it started when it is late or not needed any more."""

    def __init__(self, pid: int | None, reading: int, deadline: float) -> None:
        self._pid = pid
        self._reading = reading
        self._deadline = deadline

    def finish(self, enough: Callable[[bytes], bool] | None = None) -> tuple[int | None, bytes]:
        """The exit code and the output; the code is None where the process had to be killed or never ran.

        The process is stopped early when `enough` says so of the output, or the output grows past its limit.
        """
        output = b""
        if self._pid is None:
            self._close()
            return None, output
        try:
            while self._readable() and (chunk := os.read(self._reading, 65536)):
                output += chunk
                if len(output) >= OUTPUT_LIMIT or (enough is not None and enough(output)):
                    self.stop()
                    return None, output
        finally:
            self._close()
        return self._exit_code(), output

    def _readable(self) -> bool:
        """Wait for output or its end; False when the time is up, and then the process is killed."""
        import select

        poll = select.poll()
        poll.register(self._reading, select.POLLIN)
        if poll.poll(max(0.0, self._deadline - time.monotonic()) * 1000):
            return True
        self.stop()
        return False

    def stop(self) -> None:
        """Kill the process and what it started; its answer is not needed."""
        self._close()
        if self._pid is not None:
            with contextlib.suppress(OSError):
                os.killpg(self._pid, _KILL)
            self._reap(time.monotonic() + 1.0)

    def _close(self) -> None:
        if self._reading >= 0:
            os.close(self._reading)
            self._reading = -1

    def _exit_code(self) -> int | None:
        status = self._reap(self._deadline)
        if status is None:
            self.stop()
            return None
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else None

    def _reap(self, deadline: float) -> int | None:
        """The wait status, None where the process does not end before `deadline` or has been reaped."""
        while self._pid is not None:
            try:
                done, status = os.waitpid(self._pid, os.WNOHANG)
            except ChildProcessError:
                self._pid = None
                return None
            if done:
                self._pid = None
                return status
            if time.monotonic() >= deadline:
                return None
            time.sleep(0.001)
        return None
