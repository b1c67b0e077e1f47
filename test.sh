#!/bin/sh
# All checks of the workspace, the cheap ones first; stops at the first failure.
set -eu
unset CDPATH
cd "$(dirname "$0")"

# Longest Rust file: beyond this it does more than one thing.
most_lines=600

usage() {
    cat <<'TEXT'
usage: ./test.sh

Checks format, repository rules, lints, tests (doc tests included) and documentation of the workspace, and the Python package.
Needs Rust with rustfmt and clippy, from https://rustup.rs, and crates from the network the first time; for the Python package
Python 3.11 or later, and packages from the network.
TEXT
}

started=$(date +%s)
current='start'
skipped=''

section() {
    current=$1
    printf '\n== %s\n' "$1"
}

skip() {
    printf 'skipped: %s\n' "$1"
    skipped="$skipped
  $current: $1"
}

fail() {
    printf 'test.sh: %s\n' "$1" >&2
    exit 1
}

# $1 says what is wrong with whatever $2 lists; an empty list is fine.
require_none() {
    [ -z "$2" ] || fail "$1:
$2"
}

report() {
    status=$?
    took=$(($(date +%s) - started))
    [ -z "$skipped" ] || printf '\nskipped:%s\n' "$skipped"
    if [ "$status" -eq 0 ]; then
        printf '\nall checks passed in %s s\n' "$took"
    else
        printf '\nFAILED in "%s" after %s s\n' "$current" "$took" >&2
    fi
}

require_tools() {
    # A shell that was open before Rust was installed does not know where it is.
    command -v cargo >/dev/null 2>&1 || PATH=$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin
    command -v cargo >/dev/null 2>&1 || fail 'no cargo found; install Rust from https://rustup.rs'
    cargo fmt --version || fail 'no rustfmt found; install it: rustup component add rustfmt'
    cargo clippy --version || fail 'no clippy found; install it: rustup component add clippy'
    cargo --version
}

# Non-comment lines of the files that `find` selects by the arguments after the pattern, as file:line:text.
lines_with() {
    pattern=$1
    shift
    find "$@" -exec grep -nE "$pattern" /dev/null {} + | grep -vE '^[^:]*:[0-9]+: *//' || true
}

check_rust_files() {
    require_none "longer than $most_lines lines, split it by topic" \
        "$(find crates -name '*.rs' -exec awk -v most="$most_lines" 'FNR == most + 1 { print FILENAME }' {} +)"
    require_none 'the first line must be `//!` and say what the file is for' \
        "$(find crates -name '*.rs' ! -name 'tests.rs' -exec awk 'FNR == 1 && !/^\/\/! / { print FILENAME }' {} +)"
    echo 'length and first line of every Rust file: fine'
}

check_library() {
    # The test of memory counts allocations, for which it must be a global allocator. Arrow streams come from Python as pointers, and cards are
    # reached through C libraries.
    require_none 'only crates/mtds/src/kernel and crates/mtds-cuda may allow unsafe code' \
        "$(lines_with '(allow|expect|warn)\(.*unsafe_code' crates -name '*.rs' \
            ! -path 'crates/mtds/src/kernel/*' ! -path 'crates/mtds-cuda/src/*' ! -path 'crates/mtds/tests/memory.rs' ! -path 'crates/mtds-py/src/stream.rs')"
    impure='std::(fs|time|io|env|net|process)|std::\{.*(fs|time|io|env|net|process)'
    impure="$impure|(print|println|eprint|eprintln|dbg)!|thread_rng|os_rng|rand::rng\("
    require_none 'library, experiments and pages open no files, read no clock, print nothing, take their randomness as an argument' \
        "$(lines_with "$impure" crates/mtds/src crates/mtds-experiments/src crates/mtds-report/src -name '*.rs' ! -path '*/tests/*' ! -name '*tests.rs')"
    # Errors hold what the operating system said, so std::io is allowed.
    require_none 'motion capture opens files in files.rs only, reads no clock, prints nothing' \
        "$(lines_with "$(echo "$impure" | sed 's/|io|/|/g')" crates/mtds-mocap/src -name '*.rs' ! -name files.rs ! -name '*tests.rs')"
    require_none 'labels may be looked at in crates/mtds/src/family only' \
        "$(lines_with '\.labels?\(' crates/mtds/src -name '*.rs' ! -path 'crates/mtds/src/family/*')"
    echo 'unsafe code, files, clock, output, randomness and labels in the library: fine'
}

check_lints() {
    for lint in missing_docs unsafe_code; do
        grep -q "^$lint *=" Cargo.toml || fail "Cargo.toml: the workspace lints lack $lint"
    done
    for manifest in crates/*/Cargo.toml; do
        tr -d ' \n' <"$manifest" | grep -qF '[lints]workspace=true' ||
            fail "$manifest: add [lints] workspace = true, or the workspace lints do not hold there"
    done
    echo 'every crate takes the lints of the workspace: fine'
}

# Paths that the documents name in backticks or link to, and that are not there.
missing_paths() {
    for document in *.md docs/*.md bench/*.md crates/*/DECISIONS.md; do
        grep -oE '`(crates|docs|bench|python|\.ci)/[A-Za-z0-9_./-]+`' "$document" | tr -d '`' |
            while read -r path; do [ -e "$path" ] || echo "$document: $path"; done
        grep -oE '\]\([A-Za-z0-9_.][A-Za-z0-9_./-]*[#)]' "$document" | sed 's/^](//; s/[#)]$//' |
            while read -r path; do [ -e "$(dirname "$document")/$path" ] || echo "$document: $path"; done
    done
}

check_documents() {
    tab=$(printf '\t')
    require_none 'tabs; indent with spaces' \
        "$(find crates bench docs python .ci ./*.md ./*.toml ./*.sh -type f \( -name '*.rs' -o -name '*.md' \
            -o -name '*.toml' -o -name '*.sh' -o -name '*.py' -o -name 'run' \) -exec grep -l "$tab" {} + || true)"
    require_none 'the documents name files that do not exist' "$(missing_paths)"
    echo 'tabs, and paths that the documents name: fine'
}

check_scripts() {
    for script in ./*.sh crates/mtds-mocap/starter/make; do
        sh -n "$script"
    done
    echo 'shell scripts parse: fine'
    if ! command -v python3 >/dev/null 2>&1; then
        skip 'no python3, so the scripts in bench, families and docs/pictures were not parsed'
        return
    fi
    python3 -c 'import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path, encoding="utf-8").read(), path)' bench/*.py bench/peers/*.py families/*.py docs/pictures/*.py
    echo 'benchmark workers and scripts of families and pictures parse: fine'
}

# The pages of the program are looked at in a browser. Where there is none it is installed, if that needs no password.
require_browser() {
    for name in chromium chromium-browser google-chrome google-chrome-stable chrome; do
        if command -v "$name" >/dev/null 2>&1; then
            echo "browser: $name"
            return
        fi
    done
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq >/dev/null 2>&1 || true
        if DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1; then
            echo 'browser: chromium, just installed'
            return
        fi
    fi
    skip 'no Chromium, so pages were not looked at in a browser; install chromium'
}

# Kernels for graphics cards are compiled by the tests where NVIDIA's run-time compiler is, which needs no card.
require_kernel_compiler() {
    kernel_compiler=$(mktemp -d)
    if python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$kernel_compiler" nvidia-cuda-nvrtc; then
        library=$(find "$kernel_compiler" -name 'libnvrtc.so*' | head -n 1)
        export LD_LIBRARY_PATH="$(dirname "$library")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        echo "kernel compiler: $(basename "$library"), just installed"
    fi
}

# An environment for the Python package, which is thrown away. It is filled while crates are compiled.
begin_python() {
    environment=''
    if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        return
    fi
    environment=$(mktemp -d)
    install="$environment/bin/python -m pip install --quiet --disable-pip-version-check"
    { python3 -m venv "$environment" && $install -r python/tests/requirements.txt; } &
    environment_filled=$!
}

# The wheel of the Python package. It is compiled by the profile of the workspace's tests, and with what they ask of crates below the library, so
# that it shares the library with them; so does the program that its tests compare with.
check_python() {
    if [ -z "$environment" ]; then
        skip 'no Python 3.11 or later, so the Python package was not built'
        return
    fi
    if ! wait "$environment_filled"; then
        skip 'pip cannot install what the tests of the Python package need, so it was not built'
        rm -rf "$environment"
        return
    fi
    "$environment/bin/maturin" build --strip --locked --features as-in-workspace --out "$environment/wheels"
    "$environment/bin/maturin" generate-stubs --profile dev --locked --features as-in-workspace --out "$environment/stubs"
    $install "$environment"/wheels/*.whl
    "$environment/bin/ruff" check python
    "$environment/bin/ruff" format --check python
    "$environment/bin/mypy"
    "$environment/bin/stubtest" pymtds._core
    MTDS_PROGRAM="$PWD/${CARGO_TARGET_DIR:-target}/debug/mtds" MTDS_STUBS="$environment/stubs" MTDS_WHEELS="$environment/wheels" \
        "$environment/bin/python" -m pytest
    rm -rf "$environment"
}

case ${1:-} in
    '') ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac
trap report EXIT

section 'Tools'
require_tools
require_browser
require_kernel_compiler
begin_python

section 'Format'
cargo fmt --all -- --check
echo 'fine'

section 'Repository rules'
check_rust_files
check_library
check_lints
check_documents
check_scripts

section 'Lints'
cargo clippy --workspace --all-targets --locked -- -D warnings

section 'Tests'
# Tests that lack something here write a line each: what they print is kept from view while they pass.
MTDS_SKIPPED=$(mktemp)
export MTDS_SKIPPED
cargo test --workspace --locked
while read -r line; do
    skip "$line"
done <"$MTDS_SKIPPED"
rm -rf "$MTDS_SKIPPED" "$kernel_compiler"

section 'Documentation'
# Libraries only: the program `mtds` would overwrite the pages of the library `mtds`.
RUSTDOCFLAGS='-D warnings' cargo doc --workspace --lib --no-deps --locked

section 'Python package'
check_python
