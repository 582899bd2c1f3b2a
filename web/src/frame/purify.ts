/** Model-made HTML, without anything that runs, embeds, links or loads. The frame's policy is the wall; this keeps what no policy covers (preconnect, DNS). */
import DOMPurify from "dompurify";

const FORBID_TAGS = "script iframe frame frameset object embed portal fencedframe link base meta form template noscript foreignobject animate set use".split(" ");
const FORBID_ATTR = "srcdoc ping action formaction target background poster manifest http-equiv is slot nonce".split(" ");

const onlyWithin = (holder: ParentNode) => {
  for (const element of holder.querySelectorAll("[href], [src], [srcset]")) {
    for (const name of ["href", "xlink:href"]) if (element.hasAttribute(name) && !element.getAttribute(name)?.startsWith("#")) element.removeAttribute(name);
    if (element.hasAttribute("src") && !element.getAttribute("src")?.startsWith("data:image/")) element.removeAttribute("src");
    element.removeAttribute("srcset");
  }
};

const rules = { FORBID_TAGS, FORBID_ATTR, ALLOW_UNKNOWN_PROTOCOLS: false, ALLOW_DATA_ATTR: true, SANITIZE_DOM: true, ADD_TAGS: ["style"], FORCE_BODY: true };

/** A fragment of the report, safe to put into the frame's document. */
export function purified(html: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(html, { ...rules, RETURN_DOM_FRAGMENT: true });
  onlyWithin(fragment);
  return fragment;
}

/** The texts of a report's own scripts, in order, and its HTML without them. Read by the browser's parser, in a document that runs nothing. */
export function takeScripts(html: string): { scripts: string[]; html: string } {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const scripts: string[] = [];
  for (const script of parsed.querySelectorAll("script")) {
    const kind = (script.getAttribute("type") ?? "").trim().toLowerCase();
    const runs = kind === "" || kind === "module" || /(?:java|ecma)script$/.test(kind);
    if (runs && !script.hasAttribute("src") && script.textContent?.trim()) scripts.push(script.textContent);
    script.remove();
  }
  const styles = [...parsed.head.querySelectorAll("style")].map((style) => style.outerHTML).join("");
  return { scripts, html: styles + parsed.body.innerHTML };
}
