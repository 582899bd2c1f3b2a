/**
 * What the server says to people (a tool's outcome, notes about a file, why it cannot be read) in Chinese. It writes plain English
 * sentences of fixed shapes; one that is not known here stays as it is. Never touches names and values inside them.
 */
const ZH: [RegExp, string][] = [
  [/\b([\d,]+) rows? × ([\d,]+) columns?\b/g, "$1 行 × $2 列"],
  [/^1 value: /, "1 个值："],
  [/ \(cut at (\d+) of (\d+)\)/, "（共 $2 行，取前 $1 行）"],
  [/ \(cut at (\d+)\)/, "（取前 $1 行）"],
  [/^(\d+) of (\d+) tables/, "$2 张表中的 $1 张"],
  [/, sheet `([^`]*)`/, "，工作表 $1"],
  [/^Python finished in ([\d.]+) s/, "Python 用时 $1 s"],
  [/; last line: /, "；最后一行："],
  [/^skill `([^`]*)` activated inside (.*)$/, "在 $2 之内启用技能 $1"],
  [/^skill `([^`]*)` activated/, "启用技能 $1"],
  [/^skill `([^`]*)` ended/, "技能 $1 结束"],

  [/^(\d+) character\(s\) could not be read as (.*)$/, "$1 个字符不能按 $2 读出"],
  [/^(\d+) blank row\(s\) left out$/, "略去 $1 个空行"],
  [/^(\d+) row\(s\) shorter than the header, filled with blanks$/, "$1 行比表头短，已补空"],
  [/^(\d+) row\(s\) longer than the header; extra cells are in added columns$/, "$1 行比表头长，多出的单元格放在新增的列里"],
  [/^footnote left out: `(.*)`$/s, "略去脚注“$1”"],
  [/^NUL characters removed$/, "去掉了 NUL 字符"],
  [/^(\d+) repeated column name\(s\) numbered$/, "$1 个重复的列名已编号"],
  [/^(\d+) line\(s\) are not valid JSON and were left out$/, "$1 行不是有效的 JSON，已略去"],
  [/^empty column\(s\): /, "空列："],
  [/^(\d+) duplicate row\(s\)$/, "$1 行重复"],
  [/^distinct counts are estimates; duplicate rows not counted \(large table\)$/, "表很大：不同值为估计，未统计重复行"],
  [/: suspicious date (\S+) \(often a missing value\)$/, "：可疑日期 $1（常表示缺失）"],
  [/: suspicious date (\S+)$/, "：可疑日期 $1"],
  [/: (\d+)% empty$/, "：$1% 为空"],

  [/^delimiter tab$/, "分隔符为制表符"],
  [/^delimiter /, "分隔符 "],
  [/^header on row (\d+); (\d+) title row\(s\) above it left out \(`(.*)`\)$/s, "表头在第 $1 行，其上 $2 行标题略去（$3）"],
  [/^header on row (\d+)$/, "表头在第 $1 行"],
  [/^header over (\d+) rows joined$/, "$1 行表头已合并"],
  [/^read as empty: /, "视为空值："],
  [/^months read as their first day$/, "月份按当月第一天读"],
  [/^dates written as /, "日期写作 "],
  [/^percentages read as fractions \(12% is 0\.12\)$/, "百分数按小数读（12% 即 0.12）"],
  [/^multiplied out: /, "已乘以单位："],
  [/^numbers in parentheses read as negative$/, "括号里的数按负数读"],
  [/^`,` groups thousands$/, "“,”为千位分隔"],

  [/^the file is empty$/, "文件是空的"],
  [/^the (?:file|table|workbook) holds no (?:values|cells)$/, "文件里没有数据"],
  [/^the (?:workbook|PDF) is protected by a password$/, "文件有密码保护"],
  [/^the workbook cannot be (?:opened|read): .*$/s, "工作簿打不开，文件可能不完整"],
  [/^the PDF cannot be read: .*$/s, "PDF 读不了，文件可能不完整"],
  [/^(?:a zip archive that is not an|.* is not an) Excel workbook$/s, "这不是 Excel 工作簿"],
  [/^.* is not a (Parquet file|PDF)$/s, "这不是 $1"],
  [/^(\d+) columns; at most (\d+) are read$/, "有 $1 列，最多读 $2 列"],
  [/^this is an XML spreadsheet of Excel 2003; save it as \.xlsx$/, "这是 Excel 2003 的 XML 表格，请另存为 .xlsx"],
];

export function serverWords(text: string, language: "zh" | "en"): string {
  if (language !== "zh") return text;
  return ZH.reduce((said, [english, chinese]) => said.replace(english, chinese), text);
}

/** The result a tool gave the model, without the tag that keeps it apart in the prompt. */
export const withoutTag = (observation: string): string => observation.replace(/^<tool_result\b[^>\n]*>\n?/, "").replace(/\n?<\/tool_result>\s*$/, "");
