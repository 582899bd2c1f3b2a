"""A stored report as a file to take away. Runs as a sandbox job: all text in it is untrusted."""

import json
import os

from .errors import ReportError

FORMATS = {"pdf": "pdf", "html": "page", "md": "markdown", "docx": "word", "pptx": "slides", "xlsx": "workbook", "ipynb": "notebook"}


def make(args, progress):
    """args: input (JSON file), format, out (name without an extension). Returns {"file", "name", "extension", "bytes"}; the file is whole or not there."""
    import importlib

    from .document import Document

    partial = f".{args['out']}.part"
    try:
        if args["format"] not in FORMATS:
            raise ReportError("UNKNOWN_FORMAT", f"no format `{args['format']}`; there are: {', '.join(FORMATS)}")
        with open(args["input"], encoding="utf-8") as file:
            given = json.load(file)
        if not given.get("parts"):
            raise ReportError("EMPTY", "the conversation has no answer yet")
        progress(0.02, "")
        doc = Document(given, progress)
        writer = importlib.import_module(f".{FORMATS[args['format']]}", __package__)
        extension = writer.write(doc, partial, progress) or args["format"]
        target = f"{args['out']}.{extension}"
        os.replace(partial, target)
        progress(1.0, "")
        return {"file": target, "name": f"{doc.name()}.{extension}", "extension": extension, "bytes": os.path.getsize(target)}
    except ReportError as error:
        return error.as_dict()
    finally:
        # Renamed when it was finished; what is still here is half a document.
        if os.path.exists(partial):
            os.remove(partial)
