"""Code that runs inside the sandbox: bootstrap, runner, and the built-in functions over hostile files.

A built-in is a plain function `name(args: dict, progress) -> JSON value`, found as
`ba_worker.<module>.<name>`. Its working directory is the job's folder, where the inputs
lie under their names; `progress(fraction_or_None, message)` reports back. A module must not
start a thread when it is imported: it is imported once, before the process forks.
"""
