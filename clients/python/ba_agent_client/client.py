"""The connection to a server. Standard library only."""

import io
import json
import os
import urllib.error
import urllib.parse
import urllib.request
import uuid

from .answer import Answer
from .errors import BAAgentError


class Client:
    def __init__(self, url="http://127.0.0.1:8000", key=None, timeout=600):
        self.url, self.timeout = url.rstrip("/"), timeout
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    def ask(self, *data_and_question, conversation_id=None, model=None):
        """`ask(df, "…")`, `ask("sales.csv", "…")`, `ask("…")`: the question comes last."""
        body = self._question(data_and_question, conversation_id, model)
        return Answer(self, self._json("POST", "/api/v1/agent/query", body)["data"])

    def stream(self, *data_and_question, conversation_id=None, model=None):
        """Yields `(event, data)` while the question is worked on; the last is `("answer", Answer)`."""
        body = self._question(data_and_question, conversation_id, model)
        with self._open("POST", "/api/v1/agent/query/stream", json.dumps(body).encode(), "application/json") as stream:
            for event, data in _events(stream):
                if event == "report":
                    yield "answer", Answer(self, data)
                    return
                if event == "run.failed":
                    raise BAAgentError(data["error"]["code"], data["error"]["message"], 200)
                if event == "run.cancelled":
                    raise BAAgentError("cancelled", "the run was cancelled", 200)
                yield event, data

    def upload(self, *data, conversation_id=None):
        """Adds files to a conversation (a new one without an id) and gives its id."""
        parts = [_as_file(item, number) for number, item in enumerate(data, 1)]
        path = "/api/v1/files/upload"
        if conversation_id:
            path += "?" + urllib.parse.urlencode({"conversation_id": conversation_id})
        boundary = uuid.uuid4().hex
        body = io.BytesIO()
        for name, content in parts:
            quoted = name.replace('"', "%22").replace("\r", "").replace("\n", "")
            body.write(f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"\r\n\r\n'.encode())
            body.write(content)
            body.write(b"\r\n")
        body.write(f"--{boundary}--\r\n".encode())
        with self._open("POST", path, body.getvalue(), f"multipart/form-data; boundary={boundary}") as answer:
            uploaded = json.load(answer)["data"]
        for refused in uploaded.get("rejected", []):
            raise BAAgentError(refused["error"]["code"], refused["error"]["message"], 200)
        return uploaded["conversation_id"]

    def download(self, conversation_id, name, to=None):
        """The bytes of a file, or where they were saved."""
        query = urllib.parse.urlencode({"conversation_id": conversation_id})
        return self._save(f"/api/v1/files/download/{urllib.parse.quote(name, safe='')}?{query}", to)

    def report(self, conversation_id, run_id, kind, to):
        query = urllib.parse.urlencode({"format": kind, "run_id": run_id})
        return self._save(f"/api/v1/conversations/{conversation_id}/report?{query}", to)

    def _question(self, given, conversation_id, model):
        *data, question = given
        if not isinstance(question, str):
            raise TypeError("the question comes last, as text")
        if data:
            conversation_id = self.upload(*data, conversation_id=conversation_id)
        body = {"message": question, "conversation_id": conversation_id, "model": model}
        return {name: value for name, value in body.items() if value is not None}

    def _save(self, path, to):
        with self._open("GET", path) as answer:
            content = answer.read()
        if to is None:
            return content
        # Whole or not at all.
        with open(f"{to}.part", "wb") as file:
            file.write(content)
        os.replace(f"{to}.part", to)
        return to

    def _json(self, method, path, body):
        with self._open(method, path, json.dumps(body).encode(), "application/json") as answer:
            return json.load(answer)

    def _open(self, method, path, body=None, kind=None):
        headers = dict(self._headers, **({"Content-Type": kind} if kind else {}))
        request = urllib.request.Request(self.url + path, data=body, headers=headers, method=method)
        try:
            return urllib.request.urlopen(request, timeout=self.timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error.code, error.read()) from None
        except urllib.error.URLError as error:
            raise BAAgentError("unreachable", f"{self.url} does not answer: {error.reason}") from None


def _refusal(status, body):
    try:
        error = json.loads(body)["error"]
        return BAAgentError(error["code"], error["message"], status)
    except (ValueError, KeyError, TypeError):
        return BAAgentError("http_error", f"the server answered {status}", status)


def _as_file(item, number):
    """A path, `(name, bytes)` or something that writes itself as CSV."""
    if isinstance(item, (str, os.PathLike)):
        with open(item, "rb") as file:
            return os.path.basename(os.fspath(item)), file.read()
    if isinstance(item, tuple):
        name, content = item
        return name, content
    if hasattr(item, "to_parquet"):
        try:
            buffer = io.BytesIO()
            item.to_parquet(buffer)
            return f"data_{number}.parquet", buffer.getvalue()
        except (ImportError, ValueError, TypeError):
            pass  # no pyarrow, or a column Parquet has no type for
    if hasattr(item, "to_csv"):
        return f"data_{number}.csv", item.to_csv(index=False).encode("utf-8")
    raise TypeError(f"{type(item).__name__} is no DataFrame, path or (name, bytes)")


def _events(stream):
    event, data = "message", []
    for raw in stream:
        line = raw.decode("utf-8").rstrip("\r\n")
        if line.startswith("event:"):
            event = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].lstrip())
        elif not line and data:
            yield event, json.loads("\n".join(data))
            event, data = "message", []
