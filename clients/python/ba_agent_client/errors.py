"""What a server refuses, or cannot do."""


class BAAgentError(Exception):
    """`code` is stable, `message` is for people, `status` is the HTTP status (0: the server was not reached)."""

    def __init__(self, code, message, status=0):
        super().__init__(f"{message} ({code})")
        self.code, self.message, self.status = code, message, status
