/**
 * The boundary for model-made rich text that is shown in the page itself: everything passes `sanitize`.
 * Allows prose, tables, known links and local images; no script, style, form, SVG, id or foreign class survives.
 */
import DOMPurify from "dompurify";
import { urls } from "$lib/api/client";

export interface LinkScope {
  conversation: string;
  /** Names that exist in this conversation: uploads, artifacts, offered downloads. */
  files: ReadonlySet<string>;
}

const CLASSES = new Set(["ba-math", "ba-math-block", "file-chip", "code-chip", "blocked-image", "footnote"]);
const TAGS = (
  "a b blockquote br code del details em h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q s small span strong sub summary sup " +
  "table tbody td tfoot th thead tr caption u ul"
).split(" ");
const ATTRIBUTES = "href src alt title colspan rowspan align start class open".split(" ");

/** The local file a link or image means, by plain name, `./name`, or a `sandbox:` or `file:` path some models write. */
export function localFile(reference: string, scope: LinkScope): string | null {
  let name = reference.replace(/^(?:sandbox:|file:\/\/|attachment:)/i, "").replace(/[?#].*$/, "");
  try {
    name = decodeURIComponent(name);
  } catch {
    // Not percent-encoded: the name as written.
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(name) || name.startsWith("//")) return null;
  const base = name.split("/").pop() ?? "";
  return base && scope.files.has(base) ? base : null;
}

function fixLink(link: Element, scope: LinkScope): void {
  const href = link.getAttribute("href") ?? "";
  const file = localFile(href, scope);
  if (file) {
    link.setAttribute("href", urls.download(file, scope.conversation));
    link.setAttribute("download", file);
    link.classList.add("file-chip");
  } else if (/^https?:\/\//i.test(href) || /^mailto:/i.test(href)) {
    link.setAttribute("target", "_blank");
    link.setAttribute("rel", "noopener noreferrer nofollow");
    if (!link.getAttribute("title")) link.setAttribute("title", href);
  } else if (href.startsWith("/api/v1/files/download/") || /^#code-[\w-]+$/.test(href)) {
    if (!href.startsWith("#")) link.setAttribute("download", "");
  } else {
    link.removeAttribute("href");
  }
}

/** Only images that need no foreign request are shown; the others become a link that says what they were. */
function fixImage(image: Element, scope: LinkScope): void {
  const src = image.getAttribute("src") ?? "";
  const file = localFile(src, scope);
  if (file) {
    image.setAttribute("src", urls.download(file, scope.conversation));
    image.setAttribute("loading", "lazy");
    if (!image.getAttribute("alt")) image.setAttribute("alt", file);
    return;
  }
  if (/^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]*$/i.test(src)) return;
  const note = image.ownerDocument.createElement("span");
  note.className = "blocked-image";
  note.textContent = image.getAttribute("alt") || src.slice(0, 120) || "?";
  image.replaceWith(note);
}

function fixClasses(element: Element): void {
  const kept = [...element.classList].filter((name) => CLASSES.has(name));
  if (kept.length) element.setAttribute("class", kept.join(" "));
  else element.removeAttribute("class");
}

export function sanitizeFragment(html: string, scope: LinkScope): DocumentFragment {
  const fragment = DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|sandbox:|file:|attachment:|data:image\/(?:png|jpeg|gif|webp);|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$))/i,
    SANITIZE_NAMED_PROPS: true,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const element of fragment.querySelectorAll("[class]")) fixClasses(element);
  for (const link of fragment.querySelectorAll("a")) fixLink(link, scope);
  for (const image of fragment.querySelectorAll("img")) fixImage(image, scope);
  return fragment;
}

export function sanitize(html: string, scope: LinkScope): string {
  const holder = document.createElement("div");
  holder.append(sanitizeFragment(html, scope));
  return holder.innerHTML;
}
