#!/usr/bin/env python3
"""The conformance suite of OVOS-TOOLS-1, OVOS-MSG-1 and OVOS-SESSION-1 for a toolbox host. See README.md."""

import argparse
import fnmatch
import os
import signal
import sys
import tempfile
import time
import traceback

# The bus client reads both when it is imported: no logs among the results, no settings of the user.
os.environ["OVOS_DEFAULT_LOG_LEVEL"] = "CRITICAL"
os.environ["XDG_CONFIG_HOME"] = tempfile.gettempdir() + "/no-settings"

from websocket import WebSocketException  # noqa: E402

from bench import CALL, DISCOVER, LIST, Bench, call, connect_client  # noqa: E402
from bus import start_bus  # noqa: E402
from host import FIXTURES, TOOLHOST_TOOLBOXES, start_host  # noqa: E402
from processes import NotReady, wait_for_port  # noqa: E402
from record import Record  # noqa: E402
from report import Report, read_expected  # noqa: E402
from suite import CASES, Failure, OutOfTime  # noqa: E402

# Registered in the order in which they run.
import cases_tools  # noqa: E402,F401
import cases_service  # noqa: E402,F401
import cases_message  # noqa: E402,F401
import cases_session  # noqa: E402,F401
import cases_toolhost  # noqa: E402,F401
import cases_hostile  # noqa: E402,F401
import cases_reload  # noqa: E402,F401
import cases_whole_run  # noqa: E402,F401

OPTIONAL = ("service", "predecessor", "toolhost")
READY_SECONDS = 20


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", metavar="COMMAND",
                        help="starts the host; {bus}, {port}, {config} and {toolboxes} are filled in")
    parser.add_argument("--bus", default="real", metavar="real|bare|host|URL",
                        help="real: ovos-messagebus (the default); bare: a relay that judges nothing; "
                             "host: the host serves it on {port}; or a URL")
    parser.add_argument("--bus-command", metavar="COMMAND", help="starts another bus on {port}")
    parser.add_argument("--without", action="append", default=[], choices=OPTIONAL,
                        help="what the host does not offer; its cases are skipped; may be repeated")
    parser.add_argument("--only", action="append", metavar="PATTERN",
                        help="only cases whose id matches, or contains, the pattern; may be repeated")
    parser.add_argument("--expected-failures", metavar="FILE", help="ids of cases that must fail, one a line")
    parser.add_argument("--seconds", type=float, default=180, help="how long the whole run may take (default 180)")
    parser.add_argument("--record", metavar="FILE", help="write every frame of the run, one JSON object a line")
    parser.add_argument("--log", metavar="FILE", help="write what the host printed")
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object")
    parser.add_argument("--list", action="store_true", help="print every case with its rule, and run nothing")
    options = parser.parse_args()
    if not options.list and not options.host:
        parser.error("--host is required")
    return options


def selected(only):
    if not only:
        return CASES
    return [each for each in CASES
            if any(pattern in each.id or fnmatch.fnmatchcase(each.id, pattern) for pattern in only)]


def wait_until_ready(bench, host):
    """Discover until every toolbox has answered, and the service if there is to be one."""
    deadline = time.monotonic() + READY_SECONDS
    wanted = set(bench.toolbox_ids)
    while time.monotonic() < deadline:
        marks = {bench.emit(DISCOVER), bench.emit(CALL, call("alpha", "tally"))}
        if "service" not in bench.without:
            marks.add(bench.emit(LIST))
        count = len(wanted) + len(marks) - 1
        frames = bench.record.wait(0.4, lambda: heard if len(heard := heard_any(bench, marks)) >= count else [])
        if {frame.data.get("toolbox_id") for frame in frames if frame.type == f"{DISCOVER}.response"} >= wanted:
            # Let the answers to earlier rounds pass by.
            time.sleep(0.4)
            for mark in bench.exchanges:
                bench.count(mark)
            return
        if host.ended():
            raise NotReady(f"the host ended with {host.process.returncode}:\n{host.log_tail()}")
    heard = sorted({str(frame.data.get("toolbox_id")) for frame in bench.record.from_host()
                    if frame.type == f"{DISCOVER}.response"})
    raise NotReady(f"the host does not answer for every toolbox after {READY_SECONDS} s; wanted {sorted(wanted)}, "
                   f"heard {heard}:\n{host.log_tail()}")


def heard_any(bench, marks):
    return [frame for frame in bench.record.from_host() if frame.mark in marks]


def run_case(case, bench, report):
    """Run and report one case; true when it passed."""
    bench.begin(case.id)
    try:
        case.run(bench)
        bench.settle()
    except Failure as failure:
        frames = bench.record.frames[bench.case_start:]
        report.failed(case, failure.what, failure.expected, failure.got, frames)
    except OutOfTime:
        raise
    except Exception as error:
        # An answer of a shape that no case foresaw fails its case, not the run.
        frames = bench.record.frames[bench.case_start:]
        place = traceback.extract_tb(error.__traceback__)[-1]
        report.failed(case, f"{os.path.basename(place.filename)}:{place.lineno}", "an answer of another shape",
                      f"{type(error).__name__}: {error}", frames)
    else:
        report.passed(case)
        return True
    bench.failed_cases.add(case.id)
    return False


def run_cases(cases, bench, host, report):
    for position, case in enumerate(cases):
        if case.needs in bench.without:
            report.skipped(case, f"needs {case.needs}")
            continue
        try:
            if host.ended():
                raise NotReady(f"the host ended with {host.process.returncode}")
            if not run_case(case, bench, report) and not host.ended():
                bench.recover()
        except (OutOfTime, NotReady) as reason:
            what = str(reason) or "the run is out of time"
            for left in cases[position:]:
                report.failed(left, what)
            return


def run(options, folder, report):
    parts = []
    try:
        bus = start_bus(options.bus, options.bus_command, folder)
        parts.append(bus.stop)
        if options.bus == "host":
            host = start_host(options.host, folder, bus, "toolhost" not in options.without)
            parts.append(host.stop)
            wait_for_port(bus.port, host)
        record = Record(bus.url)
        parts.append(record.close)
        client = connect_client(bus.url)
        if options.bus != "host":
            host = start_host(options.host, folder, bus, "toolhost" not in options.without)
            parts.append(host.stop)
        toolbox_ids = [*FIXTURES, *(() if "toolhost" in options.without else TOOLHOST_TOOLBOXES)]
        bench = Bench(record, client, bus.url, toolbox_ids, options.without, time.monotonic() + options.seconds)
        parts.append(bench.close)
        try:
            wait_until_ready(bench, host)
            run_cases(selected(options.only), bench, host, report)
        finally:
            if options.record:
                record.write(options.record)
            if options.log:
                with open(options.log, "w") as file:
                    file.write(host.log_tail(1_000_000))
    finally:
        # Whatever was started is ended, the latest first, also on Ctrl-C and on SIGTERM.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for stop in reversed(parts):
            try:
                stop()
            except Exception as error:
                print(f"# while ending: {type(error).__name__}: {error}", file=sys.stderr)


def main():
    options = arguments()
    if options.list:
        for each in selected(options.only):
            print(f"{each.id}  [{each.needs}]\n    {each.rule}")
        return 0
    # Both end the run in good order, also where the shell that started it has SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    report = Report(read_expected(options.expected_failures), options.json)
    unknown = report.expected - {each.id for each in CASES}
    if unknown:
        print(f"no such case: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        try:
            run(options, folder, report)
        except (NotReady, Failure, OSError, WebSocketException) as reason:
            print(f"Bail out! {reason}")
            return 1
        except KeyboardInterrupt:
            print("Bail out! interrupted")
            return 130
    return report.close()


if __name__ == "__main__":
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        code = 1
    # Threads of the client's pool must not hold up the end.
    os._exit(code)
