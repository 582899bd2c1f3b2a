"""Checks in Python: `check(…)` for user code, and what a merge did to the number of rows (SPEC W3). Finds; changes nothing."""

import functools

from ba_worker import given
from ba_worker.tables.notes import note, warn

_found = []
MOST = 12


def begin():
    _found.clear()


def take():
    return _found[:MOST]


def check(table, unique=None, not_null=None, parts_sum_to=None):
    """Checks a DataFrame (or a table by its name): `unique` columns name each row once, `not_null` columns have no blanks, and
    `parts_sum_to` is a total ({column: total}, or one number where there is one column of numbers). Returns what is wrong, a list
    of sentences; empty when all holds."""
    frame = given.load(table) if isinstance(table, str) else table
    if hasattr(frame, "to_frame") and not hasattr(frame, "columns"):
        frame = frame.to_frame(name=frame.name or "value").reset_index()
    wrong = []
    for columns in _sets(unique, frame):
        repeated = int(frame.duplicated(columns).sum())
        if repeated:
            some = frame.loc[frame.duplicated(columns, keep=False), columns].head(3).to_dict("records")
            wrong.append(warn("duplicate_key", f"{', '.join(columns)}: {repeated} of {len(frame)} rows repeat a key, e.g. {some}", columns=columns, count=repeated))
    for column in _columns(not_null, frame):
        blank = int(frame[column].isna().sum())
        if blank:
            wrong.append(warn("blank_values", f"{column}: {blank} of {len(frame)} rows are blank", column, blank=blank, rows=len(frame)))
    for column, total in _totals(parts_sum_to, frame):
        found = float(frame[column].sum())
        if abs(found - total) > max(1e-6, 0.0005 * abs(total)):
            wrong.append(warn("parts_do_not_sum", f"{column}: the parts sum to {found:,.6g}, not {total:,.6g} (difference {found - total:,.6g})", column, sum=found, expected=total))
    _found.extend(wrong)
    return [n["text"] for n in wrong]


def _sets(unique, frame):
    """`unique` names one key, or several keys as lists."""
    if unique is None:
        return []
    if isinstance(unique, str):
        unique = [unique]
    sets = [list(u) for u in unique] if any(isinstance(u, (list, tuple)) for u in unique) else [list(unique)]
    return [_columns(s, frame) for s in sets]


def _columns(names, frame):
    names = [names] if isinstance(names, str) else list(names or [])
    missing = [n for n in names if n not in frame.columns]
    if missing:
        raise KeyError(f"no column {missing[0]!r}; there are: {', '.join(map(str, frame.columns))}")
    return names


def _totals(wanted, frame):
    if wanted is None:
        return []
    if isinstance(wanted, dict):
        _columns(list(wanted), frame)
        return [(c, float(t)) for c, t in wanted.items()]
    numbers = list(frame.select_dtypes("number").columns)
    if len(numbers) != 1:
        raise ValueError(f"say which column sums to {wanted}: parts_sum_to={{column: total}}; columns of numbers: {', '.join(map(str, numbers)) or 'none'}")
    return [(numbers[0], float(wanted))]


def watch_merges():
    """A merge that repeats rows is told of, once a call."""
    import pandas

    for place, name in ((pandas, "merge"), (pandas.DataFrame, "merge")):
        setattr(place, name, _watched(getattr(place, name)))


def _watched(merge):
    @functools.wraps(merge)
    def watched(left, right, *rest, **how):
        made = merge(left, right, *rest, **how)
        try:
            _judge(len(left), len(right), len(made), how.get("how", "inner"))
        except Exception:
            pass
        return made

    return watched


def _judge(left, right, after, how):
    if how == "cross" or after <= left or any(n["code"].startswith("join_") for n in _found):
        return
    values = {"before": {"left": left, "right": right}, "after": after}
    if after > max(left, right):
        _found.append(warn("join_multiplied", f"the merge multiplied rows: left {left}, right {right} → {after}; neither side's key is unique, so sums are too large. "
                           "Aggregate one side to the key first, or merge on a unique key", **values))
    elif how == "left":
        _found.append(warn("join_multiplied", f"the left merge repeats rows: left {left}, right {right} → {after}; sums of the left table's columns are too large", **values))
    else:
        _found.append(note("join_grew", f"the merge gives more rows than its left table: left {left}, right {right} → {after}", **values))


def of_value(value):
    """What is wrong with the value a call ends with."""
    import pandas

    if isinstance(value, (pandas.DataFrame, pandas.Series)) and not len(value):
        _found.append(note("zero_rows", "the result has no rows"))
