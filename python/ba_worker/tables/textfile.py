"""Plain text, code and PDF: their lines, and for code the names it defines. Never executes what it reads."""

import ast
import re

from .errors import TableError

MAX_TEXT = 64 << 20
MAX_PAGES = 2000
LANGUAGES = {"py": "python", "sql": "sql", "js": "javascript", "ts": "typescript", "java": "java", "go": "go", "rs": "rust",
             "sh": "shell", "r": "r", "c": "c", "cpp": "cpp", "php": "php", "rb": "ruby", "css": "css"}


def read(path, codec, limit=MAX_TEXT):
    with open(path, "rb") as f:
        data = f.read(limit)
    return data.decode(codec, "replace").replace("\x00", "").replace("\r\n", "\n")


def python_names(text):
    """(functions, classes) of Python source; broken source gives what a line scan finds."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (re.findall(r"^(?:async )?def (\w+)", text, re.M), re.findall(r"^class (\w+)", text, re.M))
    functions = [n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    classes = [n.name for n in tree.body if isinstance(n, ast.ClassDef)]
    return functions, classes


def pdf(path, progress, pages=None):
    """The text of a PDF, page by page."""
    import pypdf

    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise TableError("PASSWORD_PROTECTED", "the PDF is protected by a password", step="password")
        total = len(reader.pages)
        out = []
        for i in range(min(total, pages or MAX_PAGES, MAX_PAGES)):
            out.append(reader.pages[i].extract_text() or "")
            if i % 10 == 0:
                progress(i / max(1, total), f"page {i + 1} of {total}")
    except TableError:
        raise
    except Exception as e:  # pypdf raises many kinds of error on broken files
        raise TableError("BAD_PDF", f"the PDF cannot be read: {type(e).__name__}: {str(e)[:160]}") from None
    return out, total
