"""What documents say by themselves, in both languages."""

_SAID = {
    "question": ("问题", "Question"),
    "asked": ("提问时间", "Asked"),
    "made": ("导出时间", "Exported"),
    "conversation": ("对话", "Conversation"),
    "model": ("回答", "Answered by"),
    "offline": ("内置离线分析", "built-in offline analyst"),
    "answer": ("回答", "Answer"),
    "data_notes": ("数据提示", "Notes on the data"),
    "code": ("附录：代码", "Appendix: code"),
    "code_n": ("代码 {n}", "Code {n}"),
    "proofs": ("附录：数字的来源", "Appendix: where the figures come from"),
    "sources": ("来源", "Sources"),
    "source": ("来源", "Source"),
    "figure": ("数字", "Figure"),
    "state": ("状态", "State"),
    "origin": ("出处", "Origin"),
    "proven": ("来自结果", "from a result"),
    "derived": ("由结果算得", "computed from results"),
    "given": ("由提问者给出", "given by the asker"),
    "unproven": ("未证实", "unproven"),
    "mismatch": ("与名称不符", "under another name"),
    "unproven_why": ("没有结果能证实", "no result bears this out"),
    "mismatch_why": ("这个值在结果中属于别的名称", "the results have this value under another name"),
    "marked": ("标有 ? 的数字没有结果能证实，请核对后使用。", "Figures marked with ? are not borne out by any result; check them before use."),
    "row": ("第 {n} 行", "row {n}"),
    "line": ("输出第 {n} 行", "line {n} of the output"),
    "column": ("列 {name}", "column {name}"),
    "whole_column": ("整列 {name}", "all of column {name}"),
    "table_n": ("表 {n}", "Table {n}"),
    "chart_n": ("图 {n}", "Chart {n}"),
    "columns_of": ("第 {first}–{last} 列，共 {all} 列", "columns {first}–{last} of {all}"),
    "rows_of": ("第 {first}–{last} 行，共 {all} 行", "rows {first}–{last} of {all}"),
    "chart_missing": ("图 {n} 没有随回答保存，无法绘制。", "Chart {n} was not kept with the answer and cannot be drawn."),
    "chart_broken": ("这张图无法绘制：{why}", "This chart could not be drawn: {why}"),
    "chart_empty": ("脚本没有给出图的内容", "its script gave it no content"),
    "chart_large": ("图中的点太多", "it has too many points"),
    "chart_data": ("图中的数据", "Data of the chart"),
    "picture_missing": ("图片 {name} 不在这个对话的文件中，未能放入。", "The picture {name} is not among the files of this conversation and was left out."),
    "picture_large": ("图片 {name} 太大（{size}），未放入文档；可在对话中单独下载。", "The picture {name} is too large ({size}) and was left out; it can be downloaded from the conversation."),
    "picture_broken": ("图片 {name} 无法读取，未能放入。", "The picture {name} cannot be read and was left out."),
    "no_answer": ("这个问题没有得到回答：{why}", "This question was not answered: {why}"),
    "cancelled": ("已停止", "it was stopped"),
    "running": ("仍在运行", "it is still running"),
    "failed": ("运行失败", "the run failed"),
    "rows_left": ("这里只放 {shown} 行，共 {all} 行；完整的表请导出为工作簿（xlsx）。", "{shown} of {all} rows are shown here; export the workbook (xlsx) for the whole table."),
    "rows_kept": ("保存的结果是前 {shown} 行，共 {all} 行。", "The stored result holds the first {shown} of {all} rows."),
    "no_glyph": ("字体中没有的字符写作 U+…：{list}", "Characters that no font here has are written as U+…: {list}"),
    "summary": ("摘要", "Summary"),
    "total": ("合计", "Total"),
    "report": ("报告", "Report"),
    "page_of": ("第 {n} 页，共 {all} 页", "page {n} of {all}"),
    "tool": ("工具", "Tool"),
    "statement": ("语句或参数", "Statement or arguments"),
    "rows": ("行数", "Rows"),
    "sheet": ("工作表", "Sheet"),
    "about": ("内容", "Content"),
    "files": ("文件", "Files"),
    "finding": ("要点", "Finding"),
    "interactive": ("图可以点选、缩放；打印时为静态图。", "Charts react to pointing; on paper they are still."),
}


def say(language, key, **values):
    text = _SAID[key][0 if language == "zh" else 1]
    return text.format(**values) if values else text


def table(language):
    """Every phrase without values, for a template."""
    return {key: say(language, key) for key, both in _SAID.items() if "{" not in both[0]}


def human_size(size):
    for unit in ("B", "KB", "MB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GB"


def is_chinese(text):
    return any("\u4e00" <= c <= "\u9fff" for c in text)
