"""What a person is told when no document can be made."""


class ReportError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code, self.message = code, message

    def as_dict(self):
        return {"error": {"code": self.code, "message": self.message}}
