#!/bin/sh
# Everything that needs a graphics card: tests of its kernels and of learning on it, then training steps beside PyTorch's.
set -eu
unset CDPATH
cd "$(dirname "$0")"

usage() {
    cat <<'TEXT'
usage: ./gpu.sh [--no-peers]

Runs the tests of kernels and of learning on an NVIDIA card, the former also under compute-sanitizer where that is, and times training steps beside PyTorch's CUDA graphs: of layered networks with
exact and with tf32 products, and of linear systems; writes results/bench-card-exact.json, results/bench-card-tf32.json and
results/bench-card-linear.json. Needs a driver, CUDA's NVRTC where the loader finds it
(LD_LIBRARY_PATH), and PyTorch with CUDA in the Python that PYTHON names (python3 unless set); --no-peers does without PyTorch.
TEXT
}

peers="--peers ${PYTHON:-python3}"
case ${1:-} in
    '') ;;
    --no-peers) peers='' ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac

cargo build --release -p mtds-cli -p mtds-bench
target=${CARGO_TARGET_DIR:-target}/release
"$target/mtds" devices
"$target/mtds" devices --json | grep -q '"trouble": null' || { echo 'gpu.sh: no card that can be used' >&2; exit 1; }
cargo test --release -p mtds-cuda -- --nocapture
cargo test --release -p mtds --test all cuda -- --nocapture
if command -v compute-sanitizer >/dev/null 2>&1; then
    for tool in memcheck racecheck; do
        # A child, since cargo is no program of CUDA; an error found there is an error here.
        compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 1 cargo test --release -p mtds-cuda
    done
else
    echo 'gpu.sh: skipped: no compute-sanitizer, which comes with the CUDA toolkit; memory and races were not checked'
fi
for products in exact tf32; do
    # shellcheck disable=SC2086 # words of an option and its value
    "$target/mtds-bench" --device cuda --products "$products" --only w1 --threads 2 $peers --json "results/bench-card-$products.json"
done
# shellcheck disable=SC2086
"$target/mtds-bench" --device cuda --only w2 --threads 2 $peers --json results/bench-card-linear.json
