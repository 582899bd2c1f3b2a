"""The official Python client and LangChain (SPEC I3)."""

import base64

import openai
import pytest

QUESTION = "各地区的销售额是多少？"


@pytest.fixture(scope="module")
def client(server):
    return openai.OpenAI(base_url=f"{server}/v1", api_key="none", max_retries=0)


def test_models(client):
    assert client.models.list().data[0].id == "ba-agent"
    assert client.models.retrieve("ba-agent").object == "model"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-9")


def test_a_file_inside_a_message(client, retail):
    data = "data:text/csv;base64," + base64.b64encode(retail).decode()
    content = [{"type": "text", "text": QUESTION}, {"type": "file", "file": {"filename": "retail.csv", "file_data": data}}]
    answer = client.chat.completions.create(model="ba-agent", messages=[{"role": "user", "content": content}])
    assert "华东" in answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens >= 0


def test_a_stream_with_a_file_by_id(client, retail):
    kept = client.files.create(file=("retail.csv", retail), purpose="user_data")
    assert kept.filename == "retail.csv" and kept.id in [file.id for file in client.files.list()]
    content = [{"type": "text", "text": QUESTION}, {"type": "file", "file": {"file_id": kept.id}}]
    stream = client.chat.completions.create(
        model="ba-agent", messages=[{"role": "user", "content": content}], stream=True, stream_options={"include_usage": True}
    )
    text, usage = "", None
    for chunk in stream:
        usage = chunk.usage or usage
        text += "".join(choice.delta.content or "" for choice in chunk.choices)
    assert "华东" in text and usage is not None
    assert client.files.delete(kept.id).deleted


def test_responses(client, retail):
    kept = client.files.create(file=("retail.csv", retail), purpose="user_data")
    content = [{"type": "input_text", "text": QUESTION}, {"type": "input_file", "file_id": kept.id}]
    first = client.responses.create(model="ba-agent", input=[{"role": "user", "content": content}])
    assert "华东" in first.output_text and first.status == "completed"
    text = ""
    for event in client.responses.create(model="ba-agent", input="按月看销售额", previous_response_id=first.id, stream=True):
        if event.type == "response.output_text.delta":
            text += event.delta
    assert "2024" in text


def test_what_cannot_be_kept_is_refused_in_words(client):
    ask = lambda **more: client.chat.completions.create(model="ba-agent", messages=[{"role": "user", "content": "x"}], **more)
    with pytest.raises(openai.BadRequestError, match="response_format"):
        ask(response_format={"type": "json_object"})
    with pytest.raises(openai.BadRequestError, match="tools"):
        ask(tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}])


def test_langchain(server):
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(base_url=f"{server}/v1", api_key="none", model="ba-agent", max_retries=0)
    assert model.invoke("你能做什么？").content
    assert "".join(chunk.content for chunk in model.stream("你能做什么？"))
