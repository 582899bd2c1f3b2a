"""Turns a relation of text columns into a typed Parquet file by the plans of `infer`, checking every value on the way."""

from dataclasses import dataclass, field

from . import infer
from .engine import run_with_progress
from .notes import warn
from .patterns import ZONED, clean, matches, quote, sql_text

ROUNDS = 4
SHOWN = 3


@dataclass
class Column:
    key: str
    name: str
    sample: list = field(default_factory=list)
    plan: infer.Plan | None = None
    notes: list = field(default_factory=list)
    # Already typed by the reader: copied as it is.
    typed: bool = False
    # What a person said the column is.
    choice: str | None = None
    # From the header, a row of units or the title.
    unit: str | None = None

    @property
    def staged(self):
        return not self.typed and not self.plan.native


def plan_all(columns, european=False):
    """Plans every text column; a file that clearly writes decimal commas settles the ambiguous columns too."""
    for c in columns:
        if not c.typed and c.plan is None:
            c.plan = infer.decide(c.sample, c.name, choice=c.choice)
    styles = {c.plan.style for c in columns if c.plan and c.plan.style and not c.plan.ambiguous_style}
    decided = "eu" in styles or "space_comma" in styles
    for c in columns:
        if not c.plan or c.choice == "text":
            continue
        if decided and c.plan.ambiguous_style and not any("." in str(v) for v in c.sample):
            c.plan = infer.decide(c.sample, c.name, style_hint="eu", choice=c.choice)
        elif c.plan.dotted and (decided or european):
            c.plan = infer.decide(c.sample, c.name, style_hint="eu", choice=c.choice)
            if not decided:
                c.plan.notes.append(warn("decimal_comma_doubtful", "`.` could group thousands or be the decimal sign: read as thousands, because `;` separates the columns"))


def staged(relation, columns, extra=""):
    """The relation with clean text `k` and its next stage `k_n` of every column that is converted here. Each stage is a
    projection of its own, so that no text is cleaned twice."""
    first = [_first(c) for c in columns]
    second = []
    for c in columns:
        second.append(quote(c.key))
        if c.staged and c.plan.stage:
            second.append(f"{c.plan.stage_sql(quote(c.key))} AS {quote(c.key + '_n')}")
    return f"(SELECT {', '.join(second)}{extra} FROM (SELECT {', '.join(first)}{extra} FROM {relation}))"


def _first(c):
    key = quote(c.key)
    return f"{c.plan.clean_sql(key)} AS {key}" if c.staged else key


def _value(c):
    key = quote(c.key)
    if c.typed:
        return key
    if c.plan.native:
        return c.plan.native_sql(key)
    return c.plan.value_sql(key, quote(c.key + "_n") if c.plan.stage else key)


def _failed(c):
    """True where the text says something that the typed value does not."""
    return f"({quote(c.key)} IS NOT NULL AND {_value(c)} IS NULL)"


def settle(con, relation, columns):
    """Adjusts plans until every value of the relation is either converted, blank, or kept beside."""
    for _ in range(ROUNDS):
        doubtful = [c for c in columns if c.staged and c.plan.kind != "VARCHAR"]
        if not doubtful:
            return
        counts = []
        for part in _chunks(doubtful, 50):
            picks = ", ".join(f"count(*) FILTER ({_failed(c)}), count({quote(c.key)})" for c in part)
            counts += con.execute(f"SELECT {picks} FROM {staged(relation, part)}").fetchall()[0]
        changed = False
        for c, failed, present in zip(doubtful, counts[0::2], counts[1::2]):
            changed |= _adjust(con, relation, c, failed, present)
        if not changed:
            return


def _chunks(items, size):
    return [items[i:i + size] for i in range(0, len(items), size)]


def _adjust(con, relation, c, failed, present):
    """Settles one column. True when its plan changed and has to be checked again."""
    if not failed:
        c.plan.keep_raw = False
        return False
    rows = con.execute(f"SELECT DISTINCT {quote(c.key)} FROM {staged(relation, [c])} WHERE {_failed(c)} LIMIT 50").fetchall()
    bad = [clean(r[0]) for r in rows]
    wordy = not any(ch.isdigit() for v in bad for ch in v)
    few = failed <= max(2, 0.1 * present) and present - failed >= 4
    dates = c.plan.kind in infer.DATES
    better = infer.decide(list(c.sample) + [r[0] for r in rows], c.name, choice=c.choice)
    # Dates written in one more way are dates all the same; those that still fail cannot exist.
    more_ways = dates and better.kind in infer.DATES and set(better.formats) > set(c.plan.formats)
    odd_dates = None
    if dates and not wordy and not more_ways and failed <= max(2, 0.02 * present):
        odd_dates = _odd_dates(c.plan, bad, infer.decide(bad, c.name).kind)
    shown = ", ".join(f"`{v[:30]}`" for v in bad[:SHOWN])
    if few and (wordy or odd_dates):
        c.plan.keep_raw = True
        what = odd_dates or ("not dates" if dates else "not numbers")
        c.notes = [warn("words_beside", f"{c.name}: {failed} value(s) are {what} ({shown}); their text is in {c.name}_raw", c.name, count=failed, examples=bad[:SHOWN], **({"case": CASES[what]} if what in CASES else {}))]
        return False
    if better.kind == c.plan.kind and (c.plan.style, c.plan.unit) == (better.style, better.unit) and not dates:
        better = infer.Plan(trim=c.plan.trim)
    if better.kind == "VARCHAR":
        c.notes = [warn("mixed_types", f"{c.name}: mixed types, {present - failed} of {present} values look like {_word(c.plan.kind)}, "
                        f"others do not ({shown}); kept as text", c.name, fit=present - failed, present=present, examples=bad[:SHOWN])]
        c.plan = infer.Plan(trim=c.plan.trim)
        return False
    c.sample = list(c.sample) + [r[0] for r in rows]
    repeated = better.kind == c.plan.kind and better.notes == c.plan.notes and not more_ways
    if repeated:
        c.notes = [warn("dates_not_read" if dates else "mixed_types", f"{c.name}: {failed} of {present} values cannot be read as {_word(c.plan.kind)} ({shown}); kept as text",
                        c.name, examples=bad[:SHOWN])]
    c.plan = infer.Plan(trim=True) if repeated else better
    c.plan.native = None
    return not repeated


CASES = {"not dates": "dates", "impossible dates": "impossible", "times of another zone": "other_zone", "times with a zone": "zoned", "times without a zone": "unzoned"}


def _odd_dates(plan, bad, found):
    """What to call a few dates that a column of dates cannot hold; None when they are none."""
    if found not in infer.DATES:
        return None
    zoned = [bool(matches(ZONED, [v])) for v in bad]
    wants_zone = plan.kind == infer.ZONED_TIME or any(n["code"] == "zone_kept" for n in plan.notes)
    if all(zoned):
        return "times of another zone" if wants_zone else "times with a zone"
    if wants_zone and not any(zoned):
        return "times without a zone"
    return "impossible dates"


def _word(kind):
    words = {"DATE": "dates", "TIMESTAMP": "times", infer.ZONED_TIME: "times with a zone", "BOOLEAN": "true/false"}
    return words.get(kind, "numbers")


def select(columns):
    taken = {c.name.lower() for c in columns}
    picks = []

    def beside(c, suffix, sql):
        name = f"{c.name}_{suffix}"
        while name.lower() in taken:
            name += "_"
        taken.add(name.lower())
        picks.append(f"{sql} AS {quote(name)}")

    for c in columns:
        picks.append(f"{_value(c)} AS {quote(c.name)}")
        if c.staged and c.plan.companion:
            beside(c, c.plan.companion[0], c.plan.companion[1](quote(c.key)))
        if c.staged and c.plan.keep_raw:
            beside(c, "raw", f"CASE WHEN {_failed(c)} THEN {quote(c.key)} END")
    return ", ".join(picks)


def write(con, relation, columns, target, progress, message, where="", flag=None):
    """`flag`: a column of the relation that is copied as it is and marks rows."""
    extra = f", {quote(flag)}" if flag else ""
    source = staged(f"(SELECT * FROM {relation} {where})", columns, extra)
    sql = (f"COPY (SELECT {select(columns)}{extra} FROM {source}) TO {sql_text(target)} "
           "(FORMAT parquet, COMPRESSION snappy, PARQUET_VERSION V2, ROW_GROUP_SIZE 122880)")
    run_with_progress(con, sql, progress, 0.25, 0.85, message)


def notes(columns):
    """What was done to the columns' values: said once where many columns share it."""
    said = {}
    for c in columns:
        for n in c.plan.notes if c.plan else []:
            said.setdefault((n["code"], n["text"]), (n, []))[1].append(c.name)
    out = []
    for n, names in said.values():
        shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        made = {**n, "text": f"{shown}: {n['text']}"}
        if len(names) == 1:
            made["column"] = names[0]
        made.setdefault("values", {})
        made["values"] = {**made["values"], "columns": names[:20]}
        out.append(made)
    return out + [n for c in columns for n in c.notes]


def units(columns):
    found = {}
    for c in columns:
        unit = (c.plan.unit if c.plan else None) or c.unit
        if unit:
            found[c.name] = unit
    return found
