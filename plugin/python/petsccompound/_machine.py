"""The processor and the devices, under the names that wisdom has for them; libraries of CUDA."""

from __future__ import annotations

import ctypes
import os
import platform
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    name: str  #: "NVIDIA H100 80GB HBM3"
    capability: str  #: "9.0"


def _cpu_field(name: str) -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            found = re.search(rf"^{name}\s*: *(.*?) *$", file.read(), re.M)
    except OSError:
        return ""
    return found[1] if found else ""


def processor() -> str:
    """The processor and the instruction set in use, as src/host names them: "AMD EPYC, avx2"."""
    if platform.machine() not in ("x86_64", "AMD64", "amd64"):
        return "processor, plain"
    flags = set(_cpu_field("flags").split())
    best = "plain"
    if {"avx2", "fma"} <= flags:
        best = "avx2"
    if {"avx512f", "avx512dq", "avx512vl", "fma"} <= flags:
        best = "avx512"
    return f"{_cpu_field('model name') or 'processor'}, {os.environ.get('COMPOUND_HOST_SIMD') or best}"


def _driver() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    return library if library.cuInit(0) == 0 else None


def driver_version() -> str:
    """The newest CUDA that the driver can run, "13.0"; empty without a driver that works."""
    library, number = _driver(), ctypes.c_int()
    if library is None or library.cuDriverGetVersion(ctypes.byref(number)):
        return ""
    return f"{number.value // 1000}.{number.value % 1000 // 10}"


def devices() -> list[Device]:
    """The GPUs that CUDA lets this program see."""
    library, count = _driver(), ctypes.c_int()
    if library is None or library.cuDeviceGetCount(ctypes.byref(count)):
        return []
    found = []
    for number in range(count.value):
        device, name = ctypes.c_int(), ctypes.create_string_buffer(256)
        major, minor = ctypes.c_int(), ctypes.c_int()
        if library.cuDeviceGet(ctypes.byref(device), number) or library.cuDeviceGetName(name, 256, device):
            continue
        library.cuDeviceGetAttribute(ctypes.byref(major), 75, device)  # compute capability, major and minor
        library.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
        found.append(Device(name.value.decode(errors="replace"), f"{major.value}.{minor.value}"))
    return found


def nvrtc() -> str:
    """The file of NVRTC that kernels are compiled by, with its version; empty if there is none.

    The names of src/cuda/nvrtc.cpp, in its order.
    """
    asked = os.environ.get("COMPOUND_NVRTC")
    names = [asked] if asked else ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
    if not asked:
        toolkits = [os.environ[v] for v in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(v)] + ["/usr/local/cuda"]
        names += [f"{toolkit}/{folder}/{name}" for toolkit in toolkits for folder in ("lib64", "lib")
                  for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")]
    for name in names:
        try:
            library = ctypes.CDLL(name)
            major, minor = ctypes.c_int(), ctypes.c_int()
            if library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0:
                return f"{major.value}.{minor.value} ({name})"
        except (OSError, AttributeError):
            continue
    return ""


def cache_folder() -> str:
    """Where wisdom is, and compiled kernels are: $XDG_CACHE_HOME/petsc-compound, else ~/.cache/petsc-compound; empty
    where neither variable is a path from the root."""
    caches = os.environ.get("XDG_CACHE_HOME", "")
    if caches.startswith("/"):
        return caches + "/petsc-compound"
    home = os.environ.get("HOME", "")
    return home + "/.cache/petsc-compound" if home.startswith("/") else ""


def kernel_cache() -> str:
    """The folder of compiled kernels, "off", or empty."""
    return os.environ.get("COMPOUND_CUDA_CACHE") or cache_folder()
