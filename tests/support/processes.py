"""What the operating system says of a process: its memory, its CPU time, the machine's.

From /proc where there is one; elsewhere `ps` gives the resident set and the rest is unknown (None).
Sizes are in bytes, times in seconds.
"""

from __future__ import annotations

import mmap
import os
import platform
import subprocess
from pathlib import Path
from typing import NamedTuple

HAS_PROC = Path("/proc/self/status").exists()


class Memory(NamedTuple):
    """Resident memory: all of it, and the part that no file backs (None if unknown)."""

    resident: int
    anonymous: int | None


def memory(pid: int) -> Memory:
    """Return the resident memory of a process. Raises OSError or ValueError if it is gone."""
    if not HAS_PROC:
        done = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True)
        return Memory(int(done.stdout) * 1024, None)
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    resident, anonymous = (int(fields[name].split()[0]) for name in ("VmRSS", "RssAnon"))
    return Memory(resident * 1024, anonymous * 1024)


def cpu_seconds(pid: int) -> float | None:
    """Return the CPU time a process has used, user and system."""
    if not HAS_PROC:
        return None
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def machine_cpu_seconds() -> float | None:
    """Return the CPU time that all processes have used since boot, idle time apart."""
    if not HAS_PROC:
        return None
    line = Path("/proc/stat").read_text().splitlines()[0]
    user, nice, system, _idle, _iowait, irq, softirq, steal, *_ = map(int, line.split()[1:])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def touch_memory(size: int) -> None:
    """Take that many bytes of memory and give them back, two thirds of what is free at most.

    In a virtual machine the first use of a page, be it for a heap or for a file's cache, can take
    twenty times as long as any later one (200 MB/s, not 4 GB/s, were seen). Who comes first pays.
    """
    if not HAS_PROC:
        return
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    available = int(fields["MemAvailable"].split()[0]) * 1024
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
    mmap.mmap(-1, max(mmap.PAGESIZE, min(size, available * 2 // 3)), flags=flags).close()


def describe_machine() -> str:
    """Return one line: cores, processor, memory, system."""
    model, total = platform.processor() or platform.machine(), ""
    if HAS_PROC:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
        kilobytes = int(Path("/proc/meminfo").read_text().split()[1])
        total = f", {kilobytes / 2**20:.0f} GiB of memory"
    return f"{cores()} cores ({model}){total}, {platform.system()} {platform.release()}"


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
