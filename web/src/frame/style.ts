/** Base style of model-made HTML: it should read like the page around it. */
export const STYLE = `
:root{color-scheme:light;--text:#1f2430;--muted:#5c6470;--border:#dfe3e8;--head:#f5f6f8}
:root[data-theme=dark]{color-scheme:dark;--text:#e3e6ea;--muted:#9aa3ae;--border:#343a43;--head:#23272e}
:root[data-paper]{color-scheme:light;--text:#1f2430;--muted:#5c6470;--border:#dfe3e8;--head:#f5f6f8}
html{background:transparent}
:root[data-paper]{background:#fff}
body{margin:0;padding:2px;color:var(--text);font:15px/1.65 system-ui,-apple-system,"Segoe UI","PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif;overflow-wrap:anywhere;overflow-x:auto;overflow-y:hidden}
:root[data-paper] body{padding:12px}
h1,h2,h3,h4{line-height:1.35;margin:.9em 0 .4em}h1{font-size:1.35em}h2{font-size:1.2em}h3{font-size:1.08em}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.6em 0}
th,td{border-bottom:1px solid var(--border);padding:5px 10px;text-align:left}th{background:var(--head);font-weight:600}
img,canvas,svg{max-width:100%}pre{overflow-x:auto}
`;
