/**
 * A scripted model behind the OpenAI chat-completions protocol, for tests against the real server. What it answers is chosen by a
 * `[tag]` in the question and by how many answers it has already given to it.
 */
import { createServer } from "node:http";

const turn = (round, action, plan = "R1: 查询汇总; R2: 同比与图表; R3: 报告") =>
  JSON.stringify({ task_analysis: `第 ${round} 步：先看数据，再算，再写。`, execution_plan: plan.replace(new RegExp(`(R${round}: [^;]*)`), "$1(当前)"), current_round: round, action });
const calls = (round, ...content) => turn(round, { type: "tool_call", content: content.map(([tool_name, args], index) => ({ tool_name, tool_call_id: `call_${round}_${index + 1}`, arguments: args })) });
const complete = (round, content, extra = {}) => turn(round, { type: "complete", content, ...extra });

const CHART = `<div id="sales" style="width:100%;height:320px"></div>
<script>var c = echarts.init(document.getElementById('sales')); c.setOption({ xAxis: { type: 'category', data: ['华东', '华北'] }, yAxis: { type: 'value' }, series: [{ type: 'bar', data: [18203400, 12040000] }] });</script>`;

const REPORT = `## 华东同比 +18.2%

| 地区 | 销售额 | 同比 |
|---|--:|--:|
| 华东 | 18203400 | +18.2% |
| 华北 | 12040000 | -4.6% |

${CHART}

数据来自 <file_ref>upload_001</file_ref>，代码：

<code_ref>code_growth</code_ref>

![趋势](trend.png)

\`\`\`sql
SELECT region, sum(amount) FROM sales GROUP BY region
\`\`\`
`;

/** Python that needs nothing but the standard library, so that it says little about what is installed. */
const PYTHON = `import struct, zlib
def chunk(t, d):
    return struct.pack('>I', len(d)) + t + d + struct.pack('>I', zlib.crc32(t + d))
rows = b''.join(b'\\x00' + bytes((47, 111, 222)) * 120 for _ in range(60))
open('trend.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 120, 60, 8, 2, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
open('growth.csv', 'w').write('region,growth\\n华东,0.182\\n')
1 + 1`;

const SCRIPTS = {
  full: [
    () => calls(1, ["query_database", { query: "SELECT region, sum(amount) AS sales FROM sales GROUP BY region ORDER BY 2 DESC" }], ["file_reader", { path: "upload_001" }]),
    () => calls(2, ["run_python", { code: PYTHON }]),
    () => complete(3, REPORT, { recommended_questions: ["华东哪些品类拉动增长？", "按月看趋势"], download_links: ["growth.csv", "missing.xlsx"], code_blocks: [{ code_id: "code_growth", code: "def growth(a, b):\n    return a / b - 1\n", language: "python", description: "同比" }] }),
  ],
  slow: [() => calls(1, ["run_python", { code: "import time\ntime.sleep(55)", timeout: 60 }]), () => complete(2, "终于")],
  failing: [() => calls(1, ["query_database", { query: "SELECT * FROM no_such_table" }]), () => complete(2, "这张表不存在。")],
  text: [(question) => complete(1, question.replace(/^.*\[text\]/s, ""))],
};

function reply(messages) {
  const plain = (message) => (typeof message.content === "string" ? message.content : (message.content ?? []).map((part) => part.text ?? "").join("\n"));
  const at = messages.findLastIndex((message) => message.role === "user" && /\[(full|slow|failing|text)\]/.test(plain(message)));
  if (at < 0) return complete(1, "没有脚本");
  const question = plain(messages[at]);
  const script = SCRIPTS[/\[(full|slow|failing|text)\]/.exec(question)[1]];
  const answered = messages.slice(at + 1).filter((message) => message.role === "assistant").length;
  return script[Math.min(answered, script.length - 1)](question);
}

export function startModel({ pauseMs = 4 } = {}) {
  const requests = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk)).on("end", async () => {
      if (!request.url.endsWith("/chat/completions")) return response.writeHead(200, { "Content-Type": "application/json" }).end('{"data":[]}');
      const body = JSON.parse(Buffer.concat(chunks));
      requests.push(body);
      const text = reply(body.messages);
      const usage = { prompt_tokens: 1200, completion_tokens: 240, total_tokens: 1440 };
      if (!body.stream) {
        return response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ id: "x", object: "chat.completion", choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: text } }], usage }));
      }
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      const send = (data) => response.write(`data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", ...data })}\n\n`);
      for (let at = 0; at < text.length && !response.destroyed; at += 30) {
        send({ choices: [{ index: 0, delta: { content: text.slice(at, at + 30) }, finish_reason: null }] });
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      send({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
      send({ choices: [], usage });
      response.end("data: [DONE]\n\n");
    });
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve({ url: `http://127.0.0.1:${server.address().port}/v1`, requests, close: () => (server.closeAllConnections(), server.close()) })));
}
