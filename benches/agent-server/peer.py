"""The peer of the server benchmark: FastAPI + LangGraph with its in-memory checkpointer.

The same two-round turn: the model answers at once with one tool call, the tool runs one SQLite query, the model
answers at once with the report.
"""

import sqlite3
import uuid

from fastapi import FastAPI
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import BaseModel

DATABASE = sqlite3.connect(":memory:", check_same_thread=False)
DATABASE.execute("create table sales (region text, amount integer)")
DATABASE.executemany("insert into sales values (?, ?)", [(f"r{i % 7}", i) for i in range(1000)])


def query_database(query: str) -> str:
    return str(DATABASE.execute(query).fetchall())


async def model(state: MessagesState) -> dict:
    if isinstance(state["messages"][-1], ToolMessage):
        return {"messages": [AIMessage("The total is " + state["messages"][-1].content)]}
    call = {
        "name": "query_database",
        "args": {"query": "select region, sum(amount) from sales group by region"},
        "id": "call_1",
    }
    return {"messages": [AIMessage("", tool_calls=[call])]}


async def tools(state: MessagesState) -> dict:
    answers = []
    for call in state["messages"][-1].tool_calls:
        answers.append(ToolMessage(query_database(**call["args"]), tool_call_id=call["id"]))
    return {"messages": answers}


def route(state: MessagesState) -> str:
    return "tools" if state["messages"][-1].tool_calls else END


graph = StateGraph(MessagesState)
graph.add_node("model", model)
graph.add_node("tools", tools)
graph.add_edge(START, "model")
graph.add_conditional_edges("model", route, ["tools", END])
graph.add_edge("tools", "model")
agent = graph.compile(checkpointer=InMemorySaver())


class Query(BaseModel):
    message: str


app = FastAPI()


@app.post("/api/v1/agent/query")
async def query(body: Query) -> dict:
    thread = {"configurable": {"thread_id": uuid.uuid4().hex}}
    state = await agent.ainvoke({"messages": [HumanMessage(body.message)]}, thread)
    return {"success": True, "data": {"response": state["messages"][-1].content}}
