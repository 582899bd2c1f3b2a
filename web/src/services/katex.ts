/** KaTeX with its style; its own chunk. */
import "katex/dist/katex.min.css";
import katex from "katex";

export default katex;
