/** The official Node client and the Vercel AI SDK (SPEC I3), against the server whose address is in BA_URL. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import OpenAI from "openai";

const url = process.env.BA_URL;
const QUESTION = [{ role: "user", content: "你能做什么？" }];

test("openai for Node: models, an answer, a stream, a refusal", async () => {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
  assert.equal((await client.models.list()).data[0].id, "ba-agent");
  const whole = await client.chat.completions.create({ model: "ba-agent", messages: QUESTION });
  assert.ok(whole.choices[0].message.content.length > 10);
  let text = "";
  for await (const chunk of await client.chat.completions.create({ model: "ba-agent", messages: QUESTION, stream: true })) text += chunk.choices[0]?.delta.content ?? "";
  assert.ok(text.length > 10);
  await assert.rejects(client.chat.completions.create({ model: "ba-agent", messages: QUESTION, n: 2 }), /`n`/);
});

test("Vercel AI SDK: an answer and a stream", async () => {
  const model = createOpenAICompatible({ name: "ba-agent", baseURL: `${url}/v1` })("ba-agent");
  assert.ok((await generateText({ model, prompt: QUESTION[0].content })).text.length > 10);
  let text = "";
  for await (const piece of streamText({ model, prompt: QUESTION[0].content }).textStream) text += piece;
  assert.ok(text.length > 10);
});
