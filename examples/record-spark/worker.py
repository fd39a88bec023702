"""Runs cases one after the other: a JSON request a line on standard input, a JSON answer a line on standard output.

Request: {"kind": "batch" | "iceberg-stream" | "stream", "case": FOLDER, "keep": FOLDER or null for the checkpoints}. Answer: {"version", "spark": {...}, "rows": ...}, or
{"failed": why} where this program, not the case, went wrong. What the code under test prints does not reach standard output.
"""
import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import traceback

SECONDS_A_CASE = 240


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--catalog", choices=["in-memory", "hive", "iceberg"], required=True)
    arguments.add_argument("--packages", default="")
    arguments.add_argument("--memory-catalog", default="", help="its jar")
    arguments.add_argument("--ivy", default=os.path.expanduser("~/.ivy2"))
    options = arguments.parse_args()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from session import Engine

    base = os.path.realpath(tempfile.mkdtemp(prefix="pipelint-record-"))
    try:
        engine = Engine(base, options)
        for line in sys.stdin:
            print(json.dumps(answer(engine, json.loads(line)), ensure_ascii=False), file=answers, flush=True)
        engine.stop()
    finally:
        shutil.rmtree(base, ignore_errors=True)


def answer(engine, request):
    from batch_writes import BatchCase
    from stream_jobs import ExperimentCase, IcebergCase

    def too_long(*_):
        raise TimeoutError(f"over {SECONDS_A_CASE} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS_A_CASE)
    kinds = {"batch": BatchCase, "iceberg-stream": IcebergCase, "stream": ExperimentCase}
    try:
        case = kinds[request["kind"]](engine, request["case"])
        case.keep = request.get("keep")
        outcome, rows = case.run()
        return {"version": engine.version(), "spark": outcome, "rows": rows}
    except Exception:
        return {"failed": traceback.format_exc()[-2000:]}
    finally:
        signal.alarm(0)


if __name__ == "__main__":
    main()
