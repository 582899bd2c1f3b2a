"""The audit of an answer, for people: every shown figure, its state, and the call, row and column it came from."""

from .words import say

MAX = 1000
MARKED = ("unproven", "mismatch")


def table_of(tables, call, index=None):
    """The evidence table of a call."""
    return next((t for t in tables if t["call"] == call), None)


def _row(language, tables, call, row):
    """`第 3 行（华东）`: with the words that begin the row."""
    found = table_of(tables, call)
    said = say(language, "row", n=row + 1)
    if found and 0 <= row < len(found["rows"]):
        label = next((str(v) for v in found["rows"][row] if isinstance(v, str) and v.strip()), "")
        if label:
            said += f" ({label[:40]})"
    return said


def _operand(language, tables, names, item):
    source = names.get(item.get("tool_call_id"), item.get("tool_call_id") or "?")
    if item.get("row") is None:
        where = say(language, "whole_column", name=item.get("column") or "?")
    else:
        where = _row(language, tables, item.get("tool_call_id"), item["row"])
        where += f" · {item['column']}" if item.get("column") else ""
    value = item.get("value")
    return f"{source} · {where}" + (f" = {value:,.10g}" if isinstance(value, (int, float)) else "")


def origin(language, tables, names, figure):
    proof = figure.get("proof")
    if not isinstance(proof, dict):
        return say(language, f"{figure['state']}_why") if figure.get("state") in MARKED else say(language, "given") if figure.get("state") == "given" else ""
    if "formula" in proof:
        operands = [_operand(language, tables, names, o) for o in proof.get("operands") or [] if isinstance(o, dict)]
        listed = "; ".join(f"{chr(97 + i)}: {text}" for i, text in enumerate(operands[:8]))
        return f"{proof['formula']}  [{listed}]" if listed else str(proof["formula"])
    source = names.get(proof.get("tool_call_id"), proof.get("tool_call_id") or "?")
    if "line" in proof:
        return f"{source} · {say(language, 'line', n=proof['line'] + 1)}"
    return f"{source} · {_row(language, tables, proof.get('tool_call_id'), proof.get('row', 0))} · {proof.get('column', '')}"


def entries(language, metadata, tables, names, shown, first):
    """[{"n", "text", "state", "said", "origin", "marked"}] of the figures a reader sees, and of all doubtful ones."""
    figures = (metadata.get("audit") or {}).get("figures") or []
    found = []
    for index, figure in enumerate(figures):
        state = figure.get("state")
        if index not in shown and state not in MARKED:
            continue
        found.append({"n": first + index, "text": str(figure.get("text", "")), "state": state, "said": say(language, state) if state in ("proven", "derived", "given", *MARKED) else str(state),
                      "origin": origin(language, tables, names, figure), "marked": state in MARKED})
        if len(found) >= MAX:
            break
    return found


def summary(language, audit):
    figures = (audit or {}).get("figures") or []
    if not figures:
        return ""
    n = {key: audit.get(key, 0) for key in ("proven", "derived", "given", "unproven", "mismatch")}
    if language == "zh":
        more = (f"，{n['given']} 个由你给出" if n["given"] else "", f"，{n['mismatch']} 个与名称不符" if n["mismatch"] else "")
        return f"{len(figures)} 个数字：{n['proven']} 个来自结果，{n['derived']} 个由结果算得{more[0]}，{n['unproven']} 个未证实{more[1]}"
    more = (f", {n['given']} given by you" if n["given"] else "", f", {n['mismatch']} under other names" if n["mismatch"] else "")
    noun = "figure" if len(figures) == 1 else "figures"
    return f"{len(figures)} {noun}: {n['proven']} from results, {n['derived']} computed{more[0]}, {n['unproven']} unproven{more[1]}"
