"""What was done to a table and what is doubtful about it: a stable code, words for people, and the values in them.

`step`: cleaning that was done and is sure. `warn`: a figure of this table could be wrong or misread because of it; it is shown
with every answer that uses the table.
"""

STEP, WARN = "step", "warn"


def note(code, text, /, *, level=STEP, column=None, **values):
    made = {"code": code, "level": level, "text": text}
    if column is not None:
        made["column"] = column
    if values:
        made["values"] = values
    return made


def warn(code, text, /, column=None, **values):
    return note(code, text, level=WARN, column=column, **values)
