"""Tables in the text of a PDF, found by where the words stand on the page. A picture of a table is not seen."""

import logging

from . import aligned, captions
from .aligned import Cell
from .grid import Grid
from .notes import note, warn

MAX_PAGES = 300
MAX_PIECES = 200_000
MAX_NESTING = 200
# In heights of the letters: closer pieces are one word, farther ones are two cells.
ONE_WORD, ONE_CELL = 0.15, 0.9
TALL_GAP = 3.0


def grids(path, progress):
    """Grids of a PDF's tables; one that goes on over several pages is one. Never raises: what cannot be placed stays text."""
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.ERROR)
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            return []
        total = len(reader.pages)
    except Exception:  # `textfile.pdf` has told what is wrong with the file
        return []
    found = []
    for n in range(min(total, MAX_PAGES)):
        try:
            lines, breaks = _lines(_pieces(reader.pages[n]))
        except Exception:  # a page that cannot be placed has no tables; its text is read all the same
            continue
        if n % 5 == 0:
            progress(0.9 * n / max(1, total), f"looking for tables on page {n + 1} of {total}")
        for block in aligned.find(lines, breaks):
            _keep(found, block, lines, n + 1)
    return [_grid(t, total) for t in found]


def _keep(found, block, lines, page):
    """Adds a table, or joins it to the one that reached the end of the page before."""
    last = found[-1] if found else None
    top = not any(len(line) >= 2 for line in lines[:block.first])
    if last and top and last["at_end"] and last["pages"][-1] == page - 1 and len(block.rows[0]) == len(last["rows"][0]):
        repeated = block.rows[0] == last["rows"][0]
        if repeated or _same_places(block.edges, last["edges"]):
            last["rows"] += block.rows[1:] if repeated else block.rows
            last["repeated"] += repeated
            last["pages"].append(page)
            last["at_end"] = _at_end(block, lines)
            return
    titles = captions.above([" ".join(c.text for c in line) for line in lines[max(0, block.first - 3):block.first]])
    found.append({"rows": block.rows, "merged": block.merged, "edges": block.edges, "pages": [page], "titles": titles,
                  "repeated": 0, "at_end": _at_end(block, lines)})


def _at_end(block, lines):
    """Nothing but a page number or a footer may follow."""
    return len(lines) - block.last <= 2 and not any(len(line) > 3 for line in lines[block.last:])


def _same_places(a, b):
    return all(min(x[1], y[1]) - max(x[0], y[0]) > 0 for x, y in zip(a, b))


def _grid(table, total):
    pages = table["pages"]
    where = f"page {pages[0]}" if len(pages) == 1 else f"pages {pages[0]} to {pages[-1]}"
    notes = [warn("placed_by_position", f"read from {where} of a PDF by the position of the words; check the figures against the page",
                  pages=pages, **({"first": pages[0], "last": pages[-1], "case": "many"} if len(pages) > 1 else {}))]
    if table["repeated"]:
        notes.append(note("repeated_header", f"the header is repeated on {table['repeated']} page(s) and was kept once", pages=table["repeated"], case="pages"))
    if total > MAX_PAGES:
        notes.append(warn("pages_left_out", f"tables were looked for on the first {MAX_PAGES} of {total} pages", read=MAX_PAGES, total=total))
    titles = table["titles"]
    shift = len(titles)
    merged = [(a + shift, b, c + shift, d) for a, b, c, d in table["merged"]]
    return Grid([[t] for t in titles] + table["rows"], sheet=captions.title(titles) or (f"page {pages[0]}" if total > 1 else None),
                merged=merged, notes=notes)


def _pieces(page):
    """(left, right, baseline, height, text) of everything a page shows, by the fonts' own widths."""
    from pypdf._text_extraction._layout_mode._fixed_width_page import set_font_operation
    from pypdf._text_extraction._layout_mode._text_state_manager import TextStateManager
    from pypdf.generic import ContentStream

    contents = page.get("/Contents")
    if contents is None:
        return []
    fonts, state, out, depth = page._layout_mode_fonts(), TextStateManager(), [], 0

    def show(data):
        piece = state.text_state_params(data)
        if piece.font.interpretable and not piece.rotated and piece.text.strip():
            _place(out, piece)
        return piece

    for operands, op in ContentStream(contents.get_object(), page.pdf, "bytes").operations:
        if len(out) > MAX_PIECES:
            return []
        if op == b"q" and depth < MAX_NESTING:
            state.add_q()
            depth += 1
        elif op == b"Q" and depth:
            state.remove_q()
            depth -= 1
        elif op == b"cm":
            state.add_cm(*operands)
        elif op in (b"BT", b"ET"):
            state.reset_trm()
            state.reset_tm()
        elif op == b"Tf":
            set_font_operation(state, fonts, operands)
        elif op in (b"Tj", b"TJ", b"'", b'"'):
            _show(state, op, operands, show)
        elif op in (b"Td", b"TD", b"Tm", b"T*"):
            _move(state, op, operands)
        else:
            state.set_state_param(op, operands)
    return out


def _show(state, op, operands, show):
    if op in (b"'", b'"'):
        if op == b'"':
            state.set_state_param(b"Tw", operands[0])
            state.set_state_param(b"Tc", operands[1])
        _move(state, b"T*", [])
    given = operands[-1] if operands else b""
    last = state.text_state_params()
    for part in given if op == b"TJ" else [given]:
        if isinstance(part, (bytes, str)):
            last = show(part)
        elif isinstance(part, (int, float)):
            state.add_trm(last.displacement_matrix(td_offset=part))


def _move(state, op, operands):
    state.reset_trm()
    if op == b"Tm":
        state.reset_tm()
    elif op == b"TD":
        state.set_state_param(b"TL", -operands[1])
    elif op == b"T*":
        operands = [0, -state.TL]
    state.add_tm(operands)


def _place(out, piece):
    """One piece may hold a whole line of a printed report: it is cut where blanks stand, at its letters' mean width."""
    text, left, width = piece.text, piece.tx, piece.displaced_tx - piece.tx
    step = width / max(1, len(text))
    start = 0
    while start < len(text):
        gap = text.find("  ", start)
        end = len(text) if gap < 0 else gap
        word = text[start:end].strip()
        if word:
            lead = len(text[start:end]) - len(text[start:end].lstrip())
            out.append((left + step * (start + lead), left + step * (start + lead + len(word)), piece.ty, max(piece.font_height, 1.0), word))
        start = end + 2 if gap >= 0 else len(text)


def _lines(pieces):
    """(lines of cells from the top down, indexes of lines after a tall gap)."""
    pieces = sorted(pieces, key=lambda p: (-p[2], p[0]))
    rows = []
    for piece in pieces:
        if rows and abs(rows[-1][0] - piece[2]) < 0.4 * piece[3]:
            rows[-1][1].append(piece)
        else:
            rows.append((piece[2], [piece]))
    lines, breaks, before = [], set(), None
    for level, parts in rows:
        height = parts[0][3]
        if before is not None and before - level > TALL_GAP * height:
            breaks.add(len(lines))
        before = level
        lines.append(_cells(sorted(parts), height))
    return lines, breaks


def _cells(parts, height):
    cells = []
    for left, right, _, _, text in parts:
        gap = left - cells[-1].right if cells else None
        if gap is not None and gap < ONE_CELL * height:
            cells[-1].text += text if gap < ONE_WORD * height else f" {text}"
            cells[-1].right = max(cells[-1].right, right)
        else:
            cells.append(Cell(left, right, text))
    return cells
