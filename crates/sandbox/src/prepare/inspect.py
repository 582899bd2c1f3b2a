"""Prints what this environment is and what is wrong with it, against the lock file named in argv."""

import importlib.metadata
import json
import os
import re
import sys
import sysconfig

problems = []
older = sys.version_info[:2] < (3, 12)
for line in open(sys.argv[1], encoding="utf-8"):
    match = re.match(r"([A-Za-z0-9_.-]+)==([^ ;\\]+)\s*(?:;\s*([^\\]*))?", line)
    if not match:
        continue
    name, version, marker = match.groups()
    if marker and (("< '3.12'" in marker and not older) or (">= '3.12'" in marker and older)):
        continue
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        problems.append(f"{name} is missing")
        continue
    if found.version != version:
        problems.append(f"{name} is {found.version}, not {version}")
        continue
    for file in found.files or ():
        if file.size is None or file.parts[0] == ".." or unneeded(file.as_posix()):
            continue
        try:
            size = os.stat(file.locate()).st_size
        except OSError:
            size = -1
        if size != file.size:
            problems.append(f"{name} is damaged ({file})")
            break

print(
    json.dumps(
        {
            "base_prefix": os.path.realpath(sys.base_prefix),
            "site_packages": sysconfig.get_path("purelib"),
            "version": ".".join(map(str, sys.version_info[:3])),
            "problems": problems[:5],
        }
    )
)
