# Sourced by the scripts beside this folder (POSIX sh). Decides whether the virtual environment at hand is the one
# that this checkout asks for, and has it made when it is not.
#
# - An environment is right when its Python runs, and its stamp holds the same pyproject.toml and pinned requirements
#   as the checkout, byte for byte. That costs two or three `cmp` and no Python.
# - EVALS_PYTHON, else PYTHON, names the Python to use; otherwise the first suitable one on PATH is taken.

evals_wanted=${EVALS_PYTHON:-${PYTHON:-}}

# locate FOLDER: sets environment_python and environment_scripts.
locate() {
    if [ -d "$1/Scripts" ]; then
        environment_scripts=$1/Scripts
        environment_python=$environment_scripts/python.exe
    else
        environment_scripts=$1/bin
        environment_python=$environment_scripts/python
    fi
}

# is_right FOLDER PROFILE
is_right() {
    locate "$1"
    [ -x "$environment_python" ] || return 1
    stamp=$1/evals-setup
    cmp -s "$root/pyproject.toml" "$stamp/pyproject.toml" || return 1
    cmp -s "$root/requirements/runtime.txt" "$stamp/runtime.txt" || return 1
    if [ "$2" = development ]; then
        cmp -s "$root/requirements/development.txt" "$stamp/development.txt" || return 1
    fi
    [ -n "$evals_wanted" ] || return 0
    IFS= read -r made_for <"$stamp/wanted" || return 1
    [ "$made_for" = "$evals_wanted" ]
}

suits() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1
}

# find_python: sets base_python, or says what is missing and stops.
find_python() {
    if [ -n "$evals_wanted" ]; then
        base_python=$evals_wanted
        suits "$base_python" && return
        echo "evals: $base_python (EVALS_PYTHON or PYTHON) is not a Python 3.10 or newer that runs" >&2
        exit 1
    fi
    for base_python in python3 python3.14 python3.13 python3.12 python3.11 python3.10 python; do
        suits "$base_python" && return
    done
    echo "evals: Python 3.10 or newer is needed and none is on PATH; install one, or name it in EVALS_PYTHON" >&2
    exit 1
}

# need_environment FOLDER PROFILE: PROFILE is runtime or development.
need_environment() {
    is_right "$1" "$2" && return
    find_python
    EVALS_WANTED=$evals_wanted "$base_python" "$root/scripts/house/environment.py" "$1" "$2" || exit 1
    locate "$1"
}
