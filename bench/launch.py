"""Runs a command and writes what it cost as JSON: launch.py COSTS_FILE CAP_SECONDS COMMAND...

A process starts with the high-water mark of the one that forked it, so memory can be measured from a small process
only: this one imports little. A cap of 0 is none.
"""
import os
import signal
import sys
import time


def main():
    costs, cap, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    start = time.monotonic()
    child = os.posix_spawnp(command[0], command, os.environ)
    if cap:
        signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
        signal.setitimer(signal.ITIMER_REAL, cap)
    _, status, usage = os.wait4(child, 0)
    seconds = time.monotonic() - start
    with open(costs, "w") as file:
        file.write(f'{{"seconds": {seconds}, "cpu_seconds": {usage.ru_utime + usage.ru_stime}, '
                   f'"peak_mb": {usage.ru_maxrss * 1024 / 1e6}, "status": {os.waitstatus_to_exitcode(status)}}}')


if __name__ == "__main__":
    main()
