#!/bin/sh
# Times mtds, and with --peers also PyTorch, JAX and NumPyro, interleaved in one run.
set -eu

usage() {
    cat <<'TEXT'
usage: ./bench.sh [--peers] [--quick] [--threads N] [--json FILE] [--only WORK,…] [--at T] [--seed S]

  --peers      install PyTorch, JAX and NumPyro into .venv-peers (once) and time them in the same run
  --quick      fewer rounds
  --threads N  threads of every engine (default 2); the run is kept on as many cores
  --json FILE  write the result as JSON
  --only …     only these works: w1, w1-generate, w2, adais-all, adais-early, tracked, seed-map, seed-importance,
               stl-nuts; or w1-sizes, other sizes
               of w1, which are not run otherwise
TEXT
}

# The first N of the cores that this shell may use, as a list for taskset.
first_cores() {
    taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' |
        awk -F- '{ for (c = $1; c <= (NF > 1 ? $2 : $1); c++) print c }' |
        head -n "$1" | paste -sd, -
}

install_peers() {
    wanted=bench/peers/requirements.txt
    # The copy says which requirements the environment already meets.
    if ! cmp -s "$wanted" .venv-peers/installed.txt; then
        python3 -m venv .venv-peers
        .venv-peers/bin/python -m pip install --quiet --requirement "$wanted"
        cp "$wanted" .venv-peers/installed.txt
    fi
}

peers=no
threads=2
here=$PWD
count=$#
while [ "$count" -gt 0 ]; do
    argument=$1
    shift
    count=$((count - 1))
    case $argument in
        -h | --help) usage; exit 0 ;;
        --peers) peers=yes; continue ;;
        --threads | --json)
            [ "$count" -gt 0 ] || { echo "bench.sh: $argument needs a value" >&2; exit 2; }
            value=$1
            shift
            count=$((count - 1))
            if [ "$argument" = --threads ]; then
                threads=$value
            else
                # A path is meant from where the user stands.
                case $value in /*) ;; *) value=$here/$value ;; esac
            fi
            set -- "$@" "$argument" "$value"
            ;;
        *) set -- "$@" "$argument" ;;
    esac
done
case $threads in
    '' | *[!0-9]* | 0) echo "bench.sh: --threads $threads: expected a positive number" >&2; exit 2 ;;
esac

cd "$(dirname "$0")"
if [ "$peers" = yes ]; then
    install_peers
    set -- --peers .venv-peers/bin/python "$@"
fi
cargo build --quiet --release -p mtds-bench
# Pinning holds for all engines alike, and limits a peer that sizes a pool by the cores it sees.
if command -v taskset >/dev/null 2>&1; then
    set -- taskset -c "$(first_cores "$threads")" "${CARGO_TARGET_DIR:-target}/release/mtds-bench" "$@"
else
    set -- "${CARGO_TARGET_DIR:-target}/release/mtds-bench" "$@"
fi
exec "$@"
