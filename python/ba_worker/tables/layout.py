"""From the cells of a sheet to clean tables: cut apart, with a header, without what is no row, labels filled, totals flagged.

Every step is noted once, in the order in which it was done (SPEC B1–B6). Decides on cells only: types come later.
"""

from dataclasses import dataclass, field

from . import blocks, footers, groups, header, totals
from .cells import empty
from .notes import note


@dataclass
class Layout:
    """A table ready to be typed. `names` is None without a header; `totals` flags rows; `units`: column index or `*` → unit."""

    rows: list
    names: list | None
    totals: list
    notes: list = field(default_factory=list)
    units: dict = field(default_factory=dict)
    title: str = ""
    sheet: str | None = None


def tables(grid, header_row=None):
    """Yields `(grid, layout)` for every table of a grid."""
    if grid.names is not None:
        rows = [list(r) for r in grid.rows]
        flags, found = totals.find(rows, len(grid.names), grid.names)
        yield grid, Layout(rows, grid.names, flags, [*grid.notes, *found])
        return
    parts = [blocks.Block(0, len(grid.rows), 0, max((len(r) for r in grid.rows), default=0))] if header_row is not None else blocks.split(grid.rows)
    for block in parts:
        rows = block.cut(grid.rows)
        merged = [(t - block.top, le - block.left, b - block.top, r - block.left) for t, le, b, r in grid.merged
                  if block.top <= t < block.bottom and block.left <= le < block.right]
        made = one(rows, merged, header_row)
        made.notes[:0] = grid.notes
        made.sheet = grid.sheet
        if len(parts) > 1:
            made.notes.append(note("tables_split", f"one of {len(parts)} tables found on the sheet", count=len(parts)))
        yield grid, made


def one(rows, merged=(), header_row=None):
    """The layout of one table."""
    head = header.find(rows, merged, header_row)
    # Page lines may stand between title and header as well.
    body = [list(r) for r in rows[head.data_at:]]
    notes = list(head.notes)
    width = max([len(r) for r in body] + [len(head.names or [])], default=0)
    below = [(t - head.data_at, le, b - head.data_at, r) for t, le, b, r in merged if b >= head.data_at]
    filled = groups.merged_down(body, [(max(t, 0), le, b, r) if t >= 0 else (t, le, b, r) for t, le, b, r in below], head.names)
    if filled:
        notes.append(groups.filled_note(head.names, filled, "merged_filled"))
    body, cut = footers.cut(body, width)
    notes += [note("footer_left_out", f"footnote left out: `{c[:80]}`", text=c[:80]) for c in cut[:6]]
    body, more = footers.drop_paper(body, head.names)
    notes += more
    full = [r for r in body if not all(empty(c) for c in r)]
    if len(full) < len(body):
        notes.append(note("blank_rows", f"{len(body) - len(full)} blank row(s) left out", count=len(body) - len(full)))
    names, more = header.index_column(head.names, full)
    notes += more or _ragged(names, full)
    made = Layout(full, names, [], notes, head.units, head.title)
    _label_rows(made, width)
    return made


def _ragged(names, rows):
    """Rows of a text file that have more or fewer cells than the header."""
    named = header.used(names or [])
    short = sum(len(r) < named for r in rows)
    long = sum(header.used(r) > named for r in rows) if named else 0
    notes = []
    if short:
        notes.append(note("short_rows", f"{short} row(s) shorter than the header, filled with blanks", count=short))
    if long:
        notes.append(note("long_rows", f"{long} row(s) longer than the header; extra cells are in added columns", count=long))
    return notes


def _label_rows(made, width):
    rows = made.rows
    body, sections = footers.sections(rows, width)
    if sections is not None:
        name = "分组" if any(ord(ch) > 0x2e80 for s in sections if s for ch in s) else "group"
        made.rows = rows = [[s, *r] for s, r in zip(sections, body)]
        made.names = [name, *made.names] if made.names else None
        made.units = {(k + 1 if isinstance(k, int) else k): v for k, v in made.units.items()}
        made.notes.append(groups.section_note(name))
        width += 1
    again = groups.ditto(rows)
    if again:
        made.notes.append(groups.filled_note(made.names, again))
    flags, notes = totals.find(rows, width, made.names)
    filled = groups.first_row_only(rows, width, made.names, {i for i, f in enumerate(flags) if f})
    if filled:
        made.notes.append(groups.filled_note(made.names, filled))
        flags, notes = totals.find(rows, width, made.names)
    made.totals = flags
    made.notes += notes + totals.columns(rows, made.names, flags)
