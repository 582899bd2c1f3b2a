import { describe, expect, it } from "vitest";
import { localFile, sanitize } from "../../src/services/sanitize";
import { renderMarkdown } from "../../src/services/markdown";

const scope = { conversation: "conv_1", files: new Set(["chart.png", "报告.xlsx"]) };
const clean = (html: string) => sanitize(html, scope);
const markdown = (text: string) => clean(renderMarkdown(text));

const HOSTILE = [
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)><script>alert(1)</script></svg>",
  "<script>alert(1)</script>",
  "<iframe src=javascript:alert(1)></iframe>",
  "<a href='javascript:alert(1)'>x</a>",
  "<a href=' java\nscript:alert(1)'>x</a>",
  "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
  "<a href='vbscript:x'>x</a>",
  "<form action=https://evil.test><input name=a><button>go</button></form>",
  "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
  "<style>*{background:url(https://evil.test)}</style>",
  "<div style='position:fixed;inset:0'>x</div>",
  "<p id=app name=body>x</p>",
  "<base href=https://evil.test>",
  "<meta http-equiv=refresh content='0;url=https://evil.test'>",
  "<object data=x></object><embed src=x>",
  "<p onclick=alert(1) class='button primary' data-part=report>x</p>",
  "<template><img src=x onerror=alert(1)></template>",
  "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
  "[x](javascript:alert(1))",
  "![x](javascript:alert(1))",
  "![beacon](https://evil.test/?cookie)",
  "![svg](data:image/svg+xml;base64,PHN2Zy8+)",
  "<img src='//evil.test/x.png'>",
  "<img srcset='https://evil.test/x 2x' src='chart.png'>",
  "<video src=https://evil.test poster=https://evil.test></video>",
];

describe("the sanitiser", () => {
  it.each(HOSTILE)("leaves nothing that acts or calls out: %s", (source) => {
    for (const html of [clean(source), markdown(source)]) {
      const holder = document.createElement("div");
      holder.innerHTML = html;
      expect(holder.querySelector("script,style,iframe,svg,math,form,input,button,object,embed,base,meta,link,video,template")).toBeNull();
      for (const element of holder.querySelectorAll("*")) {
        for (const { name, value } of element.attributes) {
          expect(name.startsWith("on") || name === "style" || name === "srcset" || name === "id" || name.startsWith("data-"), `${name} in ${html}`).toBe(false);
          if (name === "class") expect(value).not.toContain("button");
          if (name === "src") expect(value.startsWith("/api/v1/files/download/") || value.startsWith("data:image/png")).toBe(true);
          if (name === "href") expect(value).toMatch(/^(https?:|mailto:|\/api\/v1\/files\/download\/|#code-)/);
        }
      }
    }
  });

  it("shows local images and data images, and names the ones it blocks", () => {
    expect(markdown("![图](chart.png)")).toContain('src="/api/v1/files/download/chart.png?conversation_id=conv_1"');
    expect(markdown("![x](data:image/png;base64,aGk=)")).toContain("data:image/png;base64,aGk=");
    expect(markdown("![销售图](https://evil.test/a.png)")).toContain(">销售图<");
  });

  it("makes links to this conversation's files downloads, and opens others safely", () => {
    expect(markdown("[下载](sandbox:/mnt/报告.xlsx)")).toContain("/api/v1/files/download/%E6%8A%A5%E5%91%8A.xlsx");
    const link = markdown("[x](https://example.test/a)");
    expect(link).toContain('target="_blank"');
    expect(link).toContain("noopener");
    expect(markdown("[x](missing.xlsx)")).not.toContain("href");
  });

  it("knows a local file only by a name that exists", () => {
    expect(localFile("./chart.png?x=1", scope)).toBe("chart.png");
    expect(localFile("https://evil.test/chart.png", scope)).toBeNull();
    expect(localFile("//evil.test/chart.png", scope)).toBeNull();
    expect(localFile("other.png", scope)).toBeNull();
  });

  it("keeps what prose needs", () => {
    const html = markdown("# 标题\n\n**粗** `代码` ~~删~~\n\n- [x] 做完\n\n> 引\n\nH<sub>2</sub>O");
    for (const piece of ["<h3>标题</h3>", "<strong>粗</strong>", "<code>代码</code>", "<del>删</del>", "☑ 做完", "<blockquote>", "<sub>2</sub>"]) expect(html).toContain(piece);
  });
});
