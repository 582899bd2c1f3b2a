"""Turns a relation of text columns into a typed Parquet file by the plans of `infer`, checking every value on the way."""

from dataclasses import dataclass, field

from . import infer
from .engine import run_with_progress
from .patterns import clean, quote, sql_text

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


def plan_all(columns):
    """Plans every text column; a file that clearly writes decimal commas settles the ambiguous columns too."""
    for c in columns:
        if not c.typed and c.plan is None:
            c.plan = infer.decide(c.sample, c.name)
    styles = {c.plan.style for c in columns if c.plan and c.plan.style and not c.plan.ambiguous_style}
    if "eu" in styles or "space_comma" in styles:
        for c in columns:
            if c.plan and c.plan.ambiguous_style and not any("." in str(v) for v in c.sample):
                c.plan = infer.decide(c.sample, c.name, style_hint="eu")


def settle(con, relation, columns):
    """Adjusts plans until every value of the relation is either converted, blank, or kept beside."""
    for _ in range(ROUNDS):
        doubtful = [c for c in columns if not c.typed and c.plan.kind != "VARCHAR" and not c.plan.native]
        if not doubtful:
            return
        counts = []
        for part in _chunks(doubtful, 50):
            picks = ", ".join(
                f"count(*) FILTER ({c.plan.failed_sql(quote(c.key))}), count(*) FILTER (NOT {infer.blank_sql(quote(c.key), True)})"
                for c in part)
            counts += con.execute(f"SELECT {picks} FROM {relation}").fetchall()[0]
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
    key = quote(c.key)
    rows = con.execute(
        f"SELECT DISTINCT {key} FROM {relation} WHERE {c.plan.failed_sql(key)} LIMIT 50").fetchall()
    bad = [clean(r[0]) for r in rows]
    wordy = not any(ch.isdigit() for v in bad for ch in v)
    few = failed <= max(2, 0.1 * present) and present - failed >= 4
    dates = c.plan.kind in infer.DATES
    better = infer.decide(list(c.sample) + [r[0] for r in rows], c.name)
    # Dates written in one more way are dates all the same; those that still fail cannot exist.
    more_ways = dates and better.kind in infer.DATES and set(better.formats) > set(c.plan.formats)
    odd_dates = None
    if dates and not wordy and not more_ways and failed <= max(2, 0.02 * present):
        odd_dates = _odd_dates(c.plan.kind, infer.decide(bad, c.name).kind)
    shown = ", ".join(f"`{v[:30]}`" for v in bad[:SHOWN])
    if few and (wordy or odd_dates):
        c.plan.keep_raw = True
        what = odd_dates or ("not dates" if dates else "not numbers")
        c.notes = [f"{c.name}: {failed} value(s) are {what} ({shown}); their text is in {c.name}_raw"]
        return False
    if better.kind == c.plan.kind and (c.plan.style, c.plan.unit) == (better.style, better.unit) and not dates:
        better = infer.Plan(trim=c.plan.trim)
    if better.kind == "VARCHAR":
        c.notes = [f"{c.name}: mixed types, {present - failed} of {present} values look like {_word(c.plan.kind)}, "
                   f"others do not ({shown}); kept as text"]
        c.plan = infer.Plan(trim=c.plan.trim)
        return False
    c.sample = list(c.sample) + [r[0] for r in rows]
    repeated = better.kind == c.plan.kind and better.guesses == c.plan.guesses and not more_ways
    c.plan = infer.Plan(trim=True) if repeated else better
    c.plan.native = None
    return not repeated


def _odd_dates(wanted, found):
    """What to call a few dates that a column of dates cannot hold; None when they are none."""
    if found not in infer.DATES:
        return None
    if infer.ZONED_TIME not in (wanted, found):
        return "impossible dates"
    if wanted == found:
        return "impossible times"
    return "times with a zone" if found == infer.ZONED_TIME else "times without a zone"


def _word(kind):
    words = {"DATE": "dates", "TIMESTAMP": "times", infer.ZONED_TIME: "times with a zone", "BOOLEAN": "true/false"}
    return words.get(kind, "numbers")


def select(columns):
    taken = {c.name.lower() for c in columns}
    picks = []
    for c in columns:
        key = quote(c.key)
        if c.typed:
            picks.append(f"{key} AS {quote(c.name)}")
            continue
        if c.plan.native:
            picks.append(f"{c.plan.native_sql(key)} AS {quote(c.name)}")
            continue
        picks.append(f"{c.plan.sql(key)} AS {quote(c.name)}")
        if c.plan.keep_raw:
            raw = f"{c.name}_raw"
            while raw.lower() in taken:
                raw += "_"
            taken.add(raw.lower())
            picks.append(f"CASE WHEN {c.plan.failed_sql(key)} THEN trim({key}) END AS {quote(raw)}")
    return ", ".join(picks)


def write(con, relation, columns, target, progress, message, where=""):
    sql = (f"COPY (SELECT {select(columns)} FROM {relation} {where}) TO {sql_text(target)} "
           "(FORMAT parquet, COMPRESSION snappy, PARQUET_VERSION V2, ROW_GROUP_SIZE 122880)")
    run_with_progress(con, sql, progress, 0.25, 0.85, message)


def guesses(columns):
    out = []
    for c in columns:
        if c.plan:
            out += [f"{c.name}: {g}" for g in c.plan.guesses]
    return out


def units(columns):
    return {c.name: c.plan.unit for c in columns if c.plan and c.plan.unit}
