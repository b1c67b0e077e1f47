"""The worker's side of the line protocol: one JSON object per line, requests in, answers out.

    worker → driver   {"ready": true, "engine": "torch 2.5.1 eager", "threads": 2}
    driver → worker   {"work": "w2", "rounds": 5}           → {"ms": [33.1, …]}   one time per round
    driver → worker   {"work": "w2", "do": "check"}         → the work's own numbers, see each work
    driver → worker   {"do": "quit"}                        the worker ends

A request that fails is answered by {"error": "…"} and the worker goes on.
"""

import argparse
import json
import os
import sys
import time


def limit_threads(description):
    """Reads --threads and limits every thread pool to it. Call before torch, jax or numpy are imported."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--threads", type=int, default=2, help="threads of this worker")
    threads = parser.parse_args().threads
    # NPROC is what XLA takes for the size of its own pool.
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NPROC"):
        os.environ[name] = str(threads)
    os.environ["JAX_PLATFORMS"] = "cpu"
    if threads == 1:
        single = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {single}".strip()
    return threads


def serve(engine, threads, works):
    """Answers requests until `quit` or the end of stdin.

    works: name → object with `warm_up()`, `round(request)` (returns when its result is there) and
    `check(request)` (returns a dict).
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints must not mix with the answers

    def answer(message):
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    for work in works.values():
        work.warm_up()
    answer({"ready": True, "engine": engine, "threads": threads})
    for line in sys.stdin:
        try:
            request = json.loads(line)
            if request.get("do") == "quit":
                return
            answer(_respond(request, works))
        except Exception as problem:  # the driver decides what a failed request means
            answer({"error": f"{type(problem).__name__}: {problem}"})


def _respond(request, works):
    name = request.get("work")
    if name not in works:
        raise ValueError(f"no work {name!r}; there are: {', '.join(works)}")
    if request.get("do") == "check":
        return works[name].check(request)
    work = works[name]
    work.prepare(request)
    return {"ms": [_milliseconds(work, request) for _ in range(int(request["rounds"]))]}


def _milliseconds(work, request):
    start = time.perf_counter()
    work.round(request)
    return 1e3 * (time.perf_counter() - start)
