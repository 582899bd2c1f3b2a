/** Formulas: an attachment that typesets `.ba-math` elements with KaTeX, loaded on first use. Model text stays inert (`trust: false`). */
export function typesetMath(root: HTMLElement): void {
  const nodes = root.querySelectorAll<HTMLElement>("code.ba-math, code.ba-math-block");
  if (nodes.length === 0) return;
  void import("./katex").then(({ default: katex }) => {
    for (const node of nodes) {
      const displayMode = node.classList.contains("ba-math-block");
      const target = document.createElement("span");
      if (displayMode) target.className = "math-block";
      katex.render(node.textContent ?? "", target, { displayMode, throwOnError: false, trust: false, maxExpand: 200, maxSize: 20 });
      node.replaceWith(target);
    }
  });
}
