"""Ask a BA-Agent server about a DataFrame or a file.

>>> answer = Client().ask(df, "Sales by region")
>>> answer.text, answer.tables, answer.figures
"""

from .answer import Answer, Figure
from .client import Client
from .errors import BAAgentError

__all__ = ["Answer", "BAAgentError", "Client", "Figure"]
