"""Failures that a person or a model can act on. Anything else is a bug and travels as a plain exception."""


class TableError(Exception):
    """Carries a stable code beside the message; the message never names a path outside the job's folder."""

    def __init__(self, code, message, hint=None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    def as_dict(self):
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}
