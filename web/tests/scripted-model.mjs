/**
 * A scripted model behind the OpenAI chat-completions protocol: the only stand-in of the browser's tests. What it answers is chosen by a
 * `[tag]` in the question and by how many answers it has already given to it.
 */
import { createServer } from "node:http";

const turn = (round, action, plan = "R1: 查询汇总; R2: 同比与图表; R3: 报告") =>
  JSON.stringify({ task_analysis: `第 ${round} 步：先看数据，再算，再写。`, execution_plan: plan.replace(new RegExp(`(R${round}: [^;]*)`), "$1(当前)"), current_round: round, action });
const calls = (round, ...content) => turn(round, { type: "tool_call", content: content.map(([tool_name, args], index) => ({ tool_name, tool_call_id: `call_${round}_${index + 1}`, arguments: args })) });
const complete = (round, content, extra = {}) => turn(round, { type: "complete", content, ...extra });

const chart = (id, title, data) => `<div id="${id}" style="width:100%;height:320px"></div>
<script>var c = echarts.init(document.getElementById('${id}')); c.setOption({ title: { text: '${title}' }, tooltip: {}, xAxis: { type: 'category', data: ['华东', '华北', '华南', '西南', '东北'] }, yAxis: { type: 'value', name: '万元' }, series: [{ type: 'bar', name: '销售额', data: ${JSON.stringify(data)} }] });</script>`;

const REPORT = `## 华东同比 **+18.2%**，贡献增量的 61%

2024 年总销售额 **5,420.6 万元**，同比 +9.4%。增长主要来自华东；东北是唯一下滑的地区。

| 地区 | 2024 销售额 | 2023 销售额 | 同比 | 占比 |
|---|---:|---:|---:|---:|
| 华东 | 18203400 | 15400500 | +18.2% | 33.6% |
| 华北 | 12040000 | 11510000 | +4.6% | 22.2% |
| 华南 | 11807000 | 11020000 | +7.1% | 21.8% |
| 西南 | 7905000 | 7288000 | +8.5% | 14.6% |
| 东北 | 4250600 | 4420000 | -3.8% | 7.8% |

${chart("sales", "各地区销售额", [1820, 1204, 1181, 791, 425])}

### 怎么算的

同比 $g = \\frac{S_{2024} - S_{2023}}{S_{2023}}$，数据来自 <file_ref>upload_001</file_ref>，代码：

<code_ref>code_growth</code_ref>

- 华东的增长集中在 *家电* 与 *数码*
- 东北的下滑来自两家门店关闭

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
picture = (b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 120, 60, 8, 2, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
with open('trend.png', 'wb') as f: f.write(picture)
with open('growth.csv', 'w') as f: f.write('region,growth\\n华东,0.182\\n')
1 + 1`;
const sleep = (seconds) => calls(1, ["run_python", { code: `import time\ntime.sleep(${seconds})`, timeout: 60 }]);

const ESSAY = Array.from({ length: 60 }, (_, at) => `第 ${["甲", "乙", "丙"][at % 3]} 段文字，慢慢地写出来。`).join("\n\n");

/** A script's step that is a number is that HTTP status. */
const SCRIPTS = {
  full: [
    () => calls(1, ["query_database", { query: "SELECT region, sum(amount) AS sales FROM sales GROUP BY region ORDER BY 2 DESC" }], ["file_reader", { path: "upload_001" }]),
    () => calls(2, ["run_python", { code: PYTHON }]),
    () => complete(3, REPORT, { recommended_questions: ["华东哪些品类拉动增长？", "按月看趋势", "东北为什么下滑？"], download_links: ["growth.csv", "missing.xlsx"], code_blocks: [{ code_id: "code_growth", code: "def growth(a, b):\n    # 同比 = 今年 / 去年 - 1\n    return a / b - 1\n", language: "python", description: "按地区计算同比" }] }),
  ],
  skill: [() => calls(1, ["activate_skill", { skill_name: "trend-growth" }]), () => calls(2, ["activate_skill", { skill_name: "echarts-design" }]), () => complete(3, "按趋势与增长的方法看过了。")],
  slow: [() => sleep(55), () => complete(2, "终于")],
  wait: [() => sleep(2), () => complete(2, "等到了")],
  wrong: [() => calls(1, ["query_database", { query: "SELECT * FROM no_such_table" }]), () => complete(2, "这张表不存在。")],
  total: [() => calls(1, ["query_database", { query: "SELECT sum(销售额) AS s FROM totals" }]), () => complete(2, "共 35。")],
  /** Four wrong figures; sent back, three are corrected. */
  proof: [
    () => calls(1, ["query_database", { query: "SELECT 地区, sum(销售额) AS 销售额 FROM regions GROUP BY 1 ORDER BY 2 DESC" }]),
    () => complete(2, "华东销售额 156,000 元，华南销售额 64,250 元，华北销售额 64,250 元，西南占 42.5%，合计 999,999 元。"),
    () => complete(2, "华东销售额 150,600 元，华南销售额 87,300 元，华北销售额 64,250 元，西南占 12.2%，合计 999,999 元。"),
  ],
  prooftable: [
    () => calls(1, ["query_database", { query: "SELECT 地区, sum(销售额) AS 销售额 FROM regions GROUP BY 1 ORDER BY 2 DESC" }]),
    () => complete(2, "| 地区 | 销售额 |\n|---|---|\n| 华东 | 150600 |\n| 华南 | 87300 |\n| 华北 | 64250 |\n"),
  ],
  /** Two rounds that both number their calls from call_1, and charts drawn from what they returned. */
  byref: [
    () => turn(1, { type: "tool_call", content: [{ tool_name: "query_database", tool_call_id: "call_1", arguments: { query: "SELECT region AS 地区, sum(amount) AS 销售额 FROM sales GROUP BY 1 ORDER BY 2 DESC" } }] }),
    () => turn(2, { type: "tool_call", content: [{ tool_name: "query_database", tool_call_id: "call_1", arguments: { query: "SELECT substr(CAST(date AS VARCHAR), 1, 7) AS month, sum(amount) AS sales FROM sales GROUP BY 1 ORDER BY 1" } }] }),
    () => complete(3, `各地区：\n\n<chart data="call_1" kind="bar" x="地区" y="销售额" title="各地区销售额" unit="元"/>\n\n按月：\n\n<chart data="call_1_2" kind="line" x="month" y="sales" title="月度趋势"/>\n\n占比：<chart data="call_1" kind="pie" x="地区" y="销售额" title="占比"/>\n\n<chart data="call_7" kind="bar" x="a" y="b"/>\n\n完。`),
  ],
  /** Written so slowly that one can come in the middle. */
  essay: [() => complete(1, ESSAY)],
  /** The same after a call, so that there is something to fold when it begins. */
  worked: [() => calls(1, ["query_database", { query: "SELECT sum(amount) AS s FROM sales" }]), () => complete(2, ESSAY)],
  choose: [() => complete(1, "要按哪个口径算？", { needs_clarification: { choices: ["[text]按含税销售额", "[text]按不含税销售额"] } })],
  address: [() => calls(1, ["web_reader", { url: "https://reports.invalid/2024" }]), () => complete(2, "没有读到。")],
  consented: [() => calls(1, ["web_reader", { url: "https://reports.invalid/2024" }]), () => complete(2, "读过了。")],
  unpaid: [() => 401],
  text: [(question) => complete(1, question.replace(/^.*\[text\]/s, ""))],
  charts: [() => complete(1, `第一张：\n\n${chart("a", "图一", [5, 3, 2, 4, 1])}\n\n两图之间的文字。\n\n${chart("b", "图二", [1, 2, 3, 4, 5])}\n\n完。`)],
  badchart: [() => complete(1, `看图：\n\n<div id="x" style="height:300px"></div>\n<script>var c = echarts.init(document.getElementById('x')); c.setOption({ series: [{ type: 'bar', data: undefinedVariable }] });</script>`)],
};
const TAG = new RegExp(`\\[(${Object.keys(SCRIPTS).join("|")})\\]|我允许读取`);

function reply(messages) {
  const plain = (message) => (typeof message.content === "string" ? message.content : (message.content ?? []).map((part) => part.text ?? "").join("\n"));
  const at = messages.findLastIndex((message) => message.role === "user" && TAG.test(plain(message)));
  if (at < 0) return complete(1, "没有脚本");
  const question = plain(messages[at]);
  const script = SCRIPTS[TAG.exec(question)[1] ?? "consented"];
  const answered = messages.slice(at + 1).filter((message) => message.role === "assistant").length;
  return script[Math.min(answered, script.length - 1)](question);
}

export function startModel({ pauseMs = 4 } = {}) {
  const server = createServer((request, response) => {
    const chunks = [];
    const json = (status, body) => response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    request.on("data", (chunk) => chunks.push(chunk)).on("end", async () => {
      if (!request.url.endsWith("/chat/completions")) return json(200, { data: [{ id: "scripted" }] });
      const body = JSON.parse(Buffer.concat(chunks));
      const text = reply(body.messages);
      if (typeof text === "number") return json(text, { error: { message: "the account is not paid", type: "auth" } });
      const usage = { prompt_tokens: 1200, completion_tokens: 240, total_tokens: 1440 };
      if (!body.stream) return json(200, { id: "x", object: "chat.completion", choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: text } }], usage });
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      const send = (data) => response.write(`data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", ...data })}\n\n`);
      for (let at = 0; at < text.length && !response.destroyed; at += 30) {
        send({ choices: [{ index: 0, delta: { content: text.slice(at, at + 30) }, finish_reason: null }] });
        if (pauseMs) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      send({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
      send({ choices: [], usage });
      response.end("data: [DONE]\n\n");
    });
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve({ url: `http://127.0.0.1:${server.address().port}/v1`, close: () => (server.closeAllConnections(), server.close()) })));
}
