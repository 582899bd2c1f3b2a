"""The peer of the server benchmarks: FastAPI + LangGraph with its in-memory checkpointer.

The same two-round turn: the model answers at once with one tool call, the tool runs one SQLite query, the model
answers at once with the report. PEER=react is LangGraph's own ReAct agent with a chat model and a tool; PEER=bare is
a graph of two plain functions, the least LangGraph can do. With PEER_TABLE=FILE.csv the tool is DuckDB in this process
over that file, and each question has a query of its own (`uploads.py`).
"""

import os
import re
import sqlite3
import uuid

from fastapi import FastAPI
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import create_react_agent
from pydantic import BaseModel

TABLE = os.environ.get("PEER_TABLE")
if TABLE:
    import duckdb

    DATABASE = duckdb.connect(config={"threads": 2})
    DATABASE.execute("create table sales as from read_csv(?)", [TABLE])
else:
    DATABASE = sqlite3.connect(":memory:", check_same_thread=False)
    DATABASE.execute("create table sales (region text, amount integer)")
    DATABASE.executemany("insert into sales values (?, ?)", [(f"r{i % 7}", i) for i in range(1000)])


def query_database(query: str) -> str:
    # Tools run on threads: each has a session of its own.
    session = DATABASE.cursor()
    return str(session.execute(query).fetchall())


def answer(last) -> AIMessage:
    if isinstance(last, ToolMessage):
        return AIMessage("The total is " + last.content)
    number = re.search(r"question (\d+)", str(last.content))
    call = {
        "name": "query_database",
        "args": {"query": f"select region, sum(amount) from sales where amount > {number[1] if number else -1} group by region"},
        "id": "call_1",
    }
    return AIMessage("", tool_calls=[call])


def bare():
    async def model(state: MessagesState) -> dict:
        return {"messages": [answer(state["messages"][-1])]}

    async def tools(state: MessagesState) -> dict:
        calls = state["messages"][-1].tool_calls
        return {"messages": [ToolMessage(query_database(**c["args"]), tool_call_id=c["id"]) for c in calls]}

    def route(state: MessagesState) -> str:
        return "tools" if state["messages"][-1].tool_calls else END

    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", route, ["tools", END])
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=InMemorySaver())


class InstantModel(BaseChatModel):
    def _generate(self, messages, stop=None, run_manager=None, **kwargs) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=answer(messages[-1]))])

    def bind_tools(self, tools, **kwargs):
        return self

    @property
    def _llm_type(self) -> str:
        return "instant"


def react():
    @tool("query_database")
    def query_tool(query: str) -> str:
        """Runs a query."""
        return query_database(query)

    return create_react_agent(InstantModel(), [query_tool], checkpointer=InMemorySaver())


agent = bare() if os.environ.get("PEER") == "bare" else react()


class Query(BaseModel):
    message: str
    conversation_id: str = ""


app = FastAPI()


@app.post("/api/v1/agent/query")
async def query(body: Query) -> dict:
    thread = {"configurable": {"thread_id": body.conversation_id or uuid.uuid4().hex}}
    state = await agent.ainvoke({"messages": [HumanMessage(body.message)]}, thread)
    return {"success": True, "data": {"response": state["messages"][-1].content}}
