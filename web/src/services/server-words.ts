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
  [/^unknown encoding `(.*)`; read as (\S+)$/, "没有“$1”这种编码，按 $2 读"],
  [/^the file is not (\S+); read as (\S+)$/, "文件不是 $1，按 $2 读"],
  [/^the file is an HTML page, not a workbook$/, "文件其实是网页，不是工作簿"],
  [/^(\d+) line\(s\) are empty or not valid JSON and were left out$/, "$1 行为空或不是有效的 JSON，已略去"],
  [/^(\d+) stray cell\(s\) far from the table left out \((.*)\)$/, "略去 $1 个远离表格的单元格（$2）"],
  [/: (\d+) value\(s\) are not dates \((.*)\); their text is in (.*)$/s, "：$1 个值不是日期（$2），原文在 $3"],
  [/: (\d+) value\(s\) are not numbers \((.*)\); their text is in (.*)$/s, "：$1 个值不是数（$2），原文在 $3"],
  [/: (\d+) value\(s\) are impossible (?:dates|times) \((.*)\); their text is in (.*)$/s, "：$1 个值是不存在的日期（$2），原文在 $3"],
  [/: (\d+) value\(s\) are times with a zone \((.*)\); their text is in (.*)$/s, "：$1 个值是带时区的时间（$2），原文在 $3"],
  [/: (\d+) value\(s\) are times of another zone \((.*)\); their text is in (.*)$/s, "：$1 个值是其他时区的时间（$2），原文在 $3"],
  [/: (\d+) value\(s\) are times without a zone \((.*)\); their text is in (.*)$/s, "：$1 个值是不带时区的时间（$2），原文在 $3"],
  [/: mixed types, (\d+) of (\d+) values look like .*, others do not \((.*)\); kept as text$/s, "：类型混杂，$2 个值中 $1 个类型一致，其余不是（$3），按文本保留"],
  [/: some values are not .*? \((.*)\); kept as text$/s, "：有的值类型不符（$1），按文本保留"],
  [/^a second column (.*) is called (.*)$/s, "重名的列 $1 改名为 $2"],
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
  [/^`\.` groups thousands, `,` is the decimal sign$/, "“.”为千位分隔，“,”为小数点"],
  [/^spaces group thousands$/, "空格为千位分隔"],
  [/^spaces around text removed$/, "去掉了文本两端的空格"],
  [/^long digit strings kept as text$/, "长数字串按文本保留"],
  [/^Excel day numbers read as dates$/, "Excel 日期序号按日期读"],
  [/^times with a zone kept as UTC$/, "带时区的时间按 UTC 保存"],
  [/^times with and without a zone are mixed: kept as text$/, "有的时间带时区、有的不带：按文本保留"],

  [/^the server could not store what it found in the file$/, "服务器没能保存从文件里读到的内容"],
  [/^the file is empty$/, "文件是空的"],
  [/^the Word document holds no text and no table$/, "文档里没有文字，也没有表格"],
  [/^the (?:file|archive) holds no table$/, "文件里没有表格"],
  [/^.+ holds (?:nothing|no (?:values|cells|columns))$/, "文件里没有数据"],
  [/^(.+) holds no rows$/s, "$1 没有数据"],
  [/^the file is a web page without a table; was it saved from a page that asks to sign in\?$/, "文件是没有表格的网页，可能保存到了登录页"],
  [/^the (?:workbook|PDF|zip archive|Word document) is protected by a password$/, "文件有密码保护"],
  [/^the (\S+) database is encrypted or damaged$/, "$1 数据库已加密或已损坏"],
  [/^the (\S+) database is encrypted$/, "$1 数据库已加密"],
  [/^the (\S+) database is of a version that cannot be read here: .*$/s, "$1 数据库的版本在这里读不了"],
  [/^the database has nothing to read$/, "数据库里没有可读的表"],
  [/^it holds no tables$/, "没有表"],
  [/^a view gives other rows each time it is read$/, "有的视图每次读出的行都不同"],
  [/^the workbook cannot be (?:opened|read): .*$/s, "工作簿打不开，文件可能不完整"],
  [/^the (PDF|Word document) cannot be read: .*$/s, "$1 读不了，文件可能不完整"],
  [/^the (?:file|table) cannot be read: .*$/s, "文件读不了，可能不完整"],
  [/^the zip archive is damaged or packed in an unknown way: .*$/s, "压缩包已损坏，或打包方式不支持"],
  [/^the (.+) file is damaged, cut off or of an unknown version: .*$/s, "$1 文件已损坏、不完整或版本不支持"],
  [/^.+ is damaged or cut off(?:: .*)?$/s, "文件已损坏或不完整"],
  [/^the SAS transport file holds several data sets$/, "SAS 传输文件里有多个数据集"],
  // What a file is not, or is; then the noun in it. What to do follows from `STEPS_ZH`.
  [/^.* is not (?:an? )?(Excel workbook|PDF|[\w ]+ (?:file|document|archive)|\w+ database)( \(or it is encrypted\))?$/s, "这不是 $1$2"],
  [/^(?:this|it) is (?:an? )?([^,]+), not a table(?=$|; )/, "这是 $1，不是表格"],
  [/^(这不?是 .*) \(or it is encrypted\)$/, "$1，或已加密"],
  [/^这是 icon image，/, "这是图标，"],
  [/^这是 font，/, "这是字体，"],
  [/^这是 binary data，/, "这是二进制数据，"],
  [/^这是 rich-text document，/, "这是富文本文档，"],
  [/^(这是 \S+) image，/, "$1 图片，"],
  [/^(这是 \S+) program，/, "$1 程序，"],
  [/^(这是 \S+) recording，/, "$1 音频，"],
  [/^(这是 \S+) video，/, "$1 视频，"],
  [/^(这是 \S+) data file，/, "$1 数据文件，"],
  [/^(这是 \S+) presentation，/, "$1 演示文稿，"],
  [/^(这是 \S+) message，/, "$1 邮件，"],
  [/^(这不?是 \S+) archive(?=，|$)/, "$1 压缩包"],
  [/^(这不?是 \S+) database(?=，|$)/, "$1 数据库"],
  [/^((?:这不?是 )?(?:\S+|Apple iWork)) document(?=，| 读不了|$)/, "$1 文档"],
  [/^(这不是 .+) file$/, "$1 文件"],
  [/^(这不是 \S+) workbook$/, "$1 工作簿"],
  [/^this is an SPSS file, which cannot be read here$/, "这是 SPSS 文件，在这里读不了"],
  [/^this is an XML spreadsheet of Excel 2003; save it as \.xlsx$/, "这是 Excel 2003 的 XML 表格，请另存为 .xlsx"],
  [/^this is a web archive \(MHTML\); open it in Excel and save it as \.xlsx$/, "这是网页归档（MHTML），请用 Excel 打开后另存为 .xlsx"],
  // Why one part of a file was not read.
  [/^(.+?) (?:in the archive )?was left out$/s, "$1 未读入"],
  [/^it is a virtual table$/, "这是虚拟表"],
  [/^it took more than (\d+) s to read$/, "读取超过 $1 秒"],
  [/^all its columns hold binary data$/, "各列都是二进制数据"],
  [/^its values take more than (\d+) GB$/, "数据超过 $1 GB"],
  [/(\d+ 行 × \d+ 列) are too many$/, "$1，超出上限"],
  [/^(.+) is an archive inside the archive$/s, "$1 是压缩包里的压缩包"],
  [/^the archive holds (\d+) files; at most (\d+) are read$/, "压缩包里有 $1 个文件，最多读 $2 个"],
  [/^the archive of (\d+) bytes unpacks to more than (\d+) bytes; refused$/, "压缩包只有 $1 字节，解压后超过 $2 字节，已拒绝"],
  [/^the (?:workbook|document) unpacks from (\d+) to (\d+) bytes; refused$/, "文件解压后从 $1 变为 $2 字节，已拒绝"],
  [/^the (?:archive says it|file) unpacks to more than (\d+) GB(?:; refused)?$/, "文件解压后超过 $1 GB，已拒绝"],
  [/^the document unpacks to more than it says; refused$/, "文档解压后比自称的大，已拒绝"],
  [/^the document declares entities, which no Word document does; refused$/, "文档含有 Word 不会写的实体声明，已拒绝"],
  [/^tables are nested more than (\d+) deep; refused$/, "表格嵌套超过 $1 层，已拒绝"],
  [/^the document's tables hold more than (\d+) cells$/, "文档里的表格超过 $1 个单元格"],
  [/^the rows need more memory than they may use$/, "这些行占用的内存超出上限"],
  [/^the query gives no columns, so there is nothing to keep$/, "查询没有返回列，没有可保存的数据"],
  [/^sheet (.*) cannot be read: .*$/s, "工作表 $1 读不了，文件可能不完整"],
  [/^sheet (.*) spans (\d+) × (\d+) cells; at most (\d+) are read$/, "工作表 $1 有 $2 × $3 个单元格，最多读 $4 个"],
  [/^no sheet `(.*?)`; there are: (.*)$/s, "没有工作表“$1”，有：$2"],
  [/^no column `(.*?)`; there are: (.*)$/s, "没有列“$1”，有：$2"],
  [/^a JSON document over (\d+) MB is not read; use JSON lines$/, "超过 $1 MB 的 JSON 文件不读，请改用 JSON lines"],
  [/^the document is nested too deeply$/, "JSON 嵌套太深"],
  [/^no line is valid JSON$/, "没有一行是有效的 JSON"],
  [/^more than (\d+) different keys$/, "不同的键超过 $1 个"],
  [/^line (\d+), column (\d+): (.*)$/s, "第 $1 行第 $2 列：$3"],
  [/^line (\d+): (.*)$/s, "第 $1 行：$2"],
  [/^.* is of no kind that can be read$/s, "读不了这种文件"],
  [/^(\d+) columns; at most (\d+) are read$/, "有 $1 列，最多读 $2 列"],
];

/** What to do about a file, said after why it cannot be read: `…; save it again`. */
const STEPS_ZH: Record<string, string> = {
  "upload the figures it shows as CSV or XLSX": "请把图里的数据录成 CSV 或 XLSX 再上传",
  "export its tables as CSV or XLSX and upload those": "请把其中的表导出为 CSV 或 XLSX 再上传",
  "save it as .docx to have its tables read, or put them into an XLSX or CSV file": "请另存为 .docx 来读其中的表格，或把表格存成 XLSX 或 CSV",
  "put its tables into an XLSX or CSV file, or save it as PDF to have its text read": "请把其中的表格存成 XLSX 或 CSV，或另存为 PDF 来读文字",
  "in Numbers, choose File > Export To > Excel or CSV and upload that": "请在 Numbers 中用“文件 > 导出为”存成 Excel 或 CSV 再上传",
  "in Access, export its tables to Excel or as text (External Data > Export) and upload those": "请在 Access 中用“外部数据 > 导出”把表存成 Excel 或文本再上传",
  "in R, write the table with write.csv and upload that": "请在 R 中用 write.csv 写出表再上传",
  "upload the data as CSV or XLSX": "请上传 CSV 或 XLSX 格式的数据",
  "keep fewer columns or rows": "请少取一些列或行",
  "upload the tables themselves, as CSV or XLSX": "请直接上传其中的表（CSV 或 XLSX）",
  "unpack it and upload what is inside": "请解压后上传里面的文件",
  "unpack it and upload the tables themselves": "请解压后直接上传其中的表",
  "upload the tables you need, or put them into one workbook": "请只上传需要的表，或把它们放进一个工作簿",
  "pack or download it again": "请重新打包或下载",
  "pack it again as a plain zip, or upload the tables themselves": "请重新打包为普通 zip，或直接上传其中的表",
  "write it again, or save the table as Parquet or CSV": "请重新生成，或另存为 Parquet 或 CSV",
  "upload a part of the rows or columns": "请只上传一部分行或列",
  "export its tables as CSV or Parquet and upload those": "请把其中的表导出为 CSV 或 Parquet 再上传",
  "remove its password, or export its tables as CSV": "请去掉密码，或把其中的表导出为 CSV",
  "export its tables as Parquet": "请把其中的表导出为 Parquet",
  "upload the file as its program saves it, or the table as CSV or XLSX": "请上传原程序保存的文件，或把表存成 CSV 或 XLSX",
  "save, pack or download it again": "请重新保存、打包或下载",
  "choose another encoding, or none to have it detected": "请换一种编码，或改回自动",
  "remove the password in Word and upload it again": "请在 Word 中去掉密码后再上传",
  "remove the password in Excel and upload it again": "请在 Excel 中去掉密码后再上传",
  "write each data set to a file of its own, or to CSV": "请把每个数据集写成单独的文件，或存成 CSV",
  "in SPSS, save it as CSV, Excel or Stata (.dta)": "请在 SPSS 中另存为 CSV、Excel 或 Stata (.dta)",
  "save it again in the program it comes from, or export it as CSV": "请在原程序中重新保存，或导出为 CSV",
  "export it as CSV or Parquet": "请导出为 CSV 或 Parquet",
  "open it in Word and save it again as .docx, or put its tables into an XLSX file": "请在 Word 中另存为 .docx，或把表格放进 XLSX",
  "open it in a spreadsheet program and save it again": "请用表格程序打开后重新保存",
  "read it again, or upload it again": "请重新读取，或重新上传",
};
const STEP = /^(.+); ([^;]+)$/s;

export function serverWords(text: string, language: "zh" | "en"): string {
  if (language !== "zh") return text;
  const [, reason = "", step = ""] = STEP.exec(text) ?? [];
  if (Object.hasOwn(STEPS_ZH, step)) {
    const whole = inChinese(text);
    // A sentence that holds its own step is known as a whole.
    return whole !== text && !whole.includes("; ") ? whole : `${serverWords(reason, language)}；${STEPS_ZH[step]}`;
  }
  const whole = inChinese(text);
  if (whole !== text) return whole;
  // What was guessed about one column has its name in front; what was left out has the reason behind.
  const [, front = "", rest = ""] = /^(.+?): (.+)$/s.exec(text) ?? [];
  const said = [inChinese(front), serverWords(rest, language)];
  return said[0] === front && said[1] === rest ? text : said.join("：");
}

const inChinese = (text: string): string => ZH.reduce((said, [english, chinese]) => said.replace(english, chinese), text);

/** Whether the reason a file cannot be read already tells what to do, so that general advice would only repeat it. */
export const tellsWhatToDo = (reason: string): boolean => /; (?:upload|unpack|export|put|save) /.test(reason) || Object.hasOwn(STEPS_ZH, STEP.exec(reason)?.[2] ?? "");

/** The result a tool gave the model, without the tag that keeps it apart in the prompt. */
export const withoutTag = (observation: string): string => observation.replace(/^<tool_result\b[^>\n]*>\n?/, "").replace(/\n?<\/tool_result>\s*$/, "");
