/** Scripted runs for the page's tests: each is a list of [pause in ms, event, data]. Chosen by a word in the question. */

const call = (id, tool_name, args) => ({ tool_name, tool_call_id: id, arguments: args });
const round = (n, calls, analysis, plan) => ["round", {
  response: "", duration_ms: 40, tool_calls: [], artifacts: [],
  metadata: { content_type: "text", has_structured_response: true, action_type: "tool_call", current_round: n, task_analysis: analysis, execution_plan: plan, status: "processing", contains_html: false, tool_calls: calls, model: "fake:model", offline: false, usage: { input_tokens: 900, output_tokens: 80 } },
}];
const started = (item, n) => ["tool.started", { ...item, round: n }];
const finished = (item, extra = {}) => ["tool.finished", { tool_call_id: item.tool_call_id, tool_name: item.tool_name, success: true, duration_ms: 212.4, cache_hit: false, summary: "312 行 × 4 列", observation: '<tool_result name="query_database">\nregion | sales\n华东 | 1820340\n华北 | 1204000', artifacts: [], ...extra }];
const report = (response, metadata = {}, artifacts = []) => ["report", {
  response, duration_ms: 1840, artifacts, tool_calls: [],
  metadata: { content_type: "markdown", has_structured_response: true, action_type: "complete", current_round: 2, task_analysis: "用户想知道各地区 2024 年的销售额和同比。\n先汇总，再计算同比，最后画图。", execution_plan: "R1: 查询汇总; R2: 同比与图表(当前)", status: "complete", contains_html: false, model: "fake:model", offline: false, usage: { input_tokens: 2310, output_tokens: 640, cost: 0.0123 }, ...metadata },
}];

const CHART = (id, title, data) => `<div id="${id}" style="width:100%;height:360px"></div>
<script>
var chart = echarts.init(document.getElementById('${id}'));
chart.setOption({ title: { text: '${title}' }, tooltip: {}, xAxis: { type: 'category', data: ['华东', '华北', '华南', '西南', '东北'] }, yAxis: { type: 'value', name: '万元' }, series: [{ type: 'bar', name: '销售额', data: ${JSON.stringify(data)} }] });
</script>`;

export const FULL_TEXT = `## 华东同比 **+18.2%**，贡献增量的 61%

2024 年总销售额 **5,420.6 万元**，同比 +9.4%。增长主要来自华东；东北是唯一下滑的地区。

| 地区 | 2024 销售额 | 2023 销售额 | 同比 | 占比 |
|---|---:|---:|---:|---:|
| 华东 | 18203400 | 15400500 | +18.2% | 33.6% |
| 华北 | 12040000 | 11510000 | +4.6% | 22.2% |
| 华南 | 11807000 | 11020000 | +7.1% | 21.8% |
| 西南 | 7905000 | 7288000 | +8.5% | 14.6% |
| 东北 | 4250600 | 4420000 | -3.8% | 7.8% |

${CHART("sales", "各地区销售额", [1820, 1204, 1181, 791, 425])}

### 怎么算的

同比 $g = \\frac{S_{2024} - S_{2023}}{S_{2023}}$，数据来自 {{FILE:1}}。

{{CODE:1}}

- 华东的增长集中在 *家电* 与 *数码*
- 东北的下滑来自两家门店关闭

![各月趋势](trend.png)`;

const FULL_META = {
  content_type: "html", contains_html: true,
  code_refs: [{ code_id: "code_growth", language: "python", description: "按地区计算同比", index: 1 }],
  file_refs: [{ file_id: "upload_001", filename: "retail.csv", file_type: "csv", size: 15300, index: 1 }],
  saved_codes: [{ code_id: "code_20260101_0a1b2c3d", version: 1, language: "sql", description: "SELECT region, sum(amount)", file_path: "data/code_20260101_0a1b2c3d.sql", original_length: 120 }],
  recommended_questions: ["华东哪些品类拉动增长？", "按月看趋势", "东北为什么下滑？"],
  download_links: ["growth.xlsx"],
  warnings: ["文件 missing.xlsx 不存在，已从下载列表移除"],
};
const ARTIFACTS = [{ name: "growth.xlsx", size: 18211, file_type: "xlsx" }, { name: "trend.png", size: 700, file_type: "png" }];

function full(pause) {
  const sql = call("call_1", "query_database", { query: "SELECT region, year, sum(amount) AS sales\nFROM retail GROUP BY region, year", max_rows: 1000 });
  const py = call("call_2", "run_python", { code: "import pandas as pd\ndf = pd.read_csv('retail.csv')\nprint(df.groupby('region').amount.sum())", timeout: 60 });
  const plan = (n) => `R1: 查询汇总${n === 1 ? "(当前)" : ""}; R2: 同比与图表${n === 2 ? "(当前)" : ""}; R3: 撰写报告`;
  const events = [
    [0, ...round(1, [sql], "用户想知道各地区 2024 年的销售额和同比。", plan(1))],
    [pause, ...started(sql, 1)], [pause * 3, ...finished(sql)],
    [0, ...round(2, [py], "已有汇总，接着计算同比并画图。", plan(2))],
    [pause, ...started(py, 2)], [pause, "tool.progress", { tool_call_id: "call_2", fraction: 0.5, message: "正在绘图" }],
    [pause * 2, ...finished(py, { summary: "图 1 张", artifacts: ARTIFACTS, cache_hit: true })],
  ];
  const raw = JSON.stringify({ task_analysis: "已有结果，写报告。", execution_plan: plan(3), current_round: 3, action: { type: "complete", content: FULL_TEXT } });
  for (let at = 0; at < raw.length; at += 40) events.push([pause / 10, "text.delta", { text: raw.slice(at, at + 40), round: 3 }]);
  return [...events, [pause, ...report(FULL_TEXT, FULL_META, ARTIFACTS)]];
}

const simple = (text, metadata = {}) => [[0, ...report(text, { task_analysis: "", execution_plan: "", ...metadata })]];
const html = (text) => simple(text, { content_type: "html", contains_html: true });

/** Slow enough that a test can act while it runs. */
function slow(pause) {
  const py = call("call_s", "run_python", { code: "import time; time.sleep(60)" });
  return [[0, ...round(1, [py], "需要一段时间。", "R1: 计算(当前); R2: 报告")], [pause, ...started(py, 1)], [60_000, ...finished(py)], [0, ...report("终于完成")]];
}

function failing() {
  const sql = call("call_f", "query_database", { query: "SELECT * FROM missing" });
  return [
    [0, ...round(1, [sql], "先查询。", "R1: 查询(当前)")], [0, ...started(sql, 1)],
    [0, ...finished(sql, { success: false, summary: "表不存在", error_code: "not_found", observation: "Operation failed.\nError Type: not_found" })],
    [0, "run.failed", { error: { code: "model_unavailable", message: "模型服务 503" } }],
  ];
}

export function scenario(message, pause) {
  if (message.startsWith("HOSTILE:")) return html(message.slice(8));
  if (message.startsWith("MD:")) return simple(message.slice(3));
  if (message.includes("慢") || message.includes("slow")) return slow(pause);
  if (message.includes("失败") || message.includes("fail")) return failing();
  if (message.includes("两张图")) return html(`第一张：\n\n${CHART("a", "图一", [5, 3, 2, 4, 1])}\n\n两图之间的文字。\n\n${CHART("b", "图二", [1, 2, 3, 4, 5])}\n\n完。`);
  if (message.includes("坏图")) return html(`看图：\n\n<div id="x" style="height:300px"></div>\n<script>var c = echarts.init(document.getElementById('x')); c.setOption({ series: [{ type: 'bar', data: undefinedVariable }] });</script>`);
  return full(pause);
}
