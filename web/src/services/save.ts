/** Leaves the page: clipboard and downloads. */

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

interface Rich {
  html: string;
  markdown: string;
}

/** Both forms at once: programs take the richest they know. Where only text can be copied, that is copied. */
export async function copyRich(made: Promise<Rich>): Promise<boolean> {
  const blob = (kind: string, pick: (rich: Rich) => string) => made.then((rich) => new Blob([pick(rich)], { type: kind }));
  try {
    // The promises keep the right to write, which a click gives for a moment only.
    await navigator.clipboard.write([new ClipboardItem({ "text/html": blob("text/html", (rich) => rich.html), "text/plain": blob("text/plain", (rich) => rich.markdown) })]);
    return true;
  } catch {
    return made.then(copyByEvent, () => false);
  }
}

/** Without a secure context: the copy command, its data replaced by ours. */
function copyByEvent(rich: Rich): boolean {
  const put = (event: ClipboardEvent) => {
    event.preventDefault();
    event.clipboardData?.setData("text/html", rich.html);
    event.clipboardData?.setData("text/plain", rich.markdown);
  };
  document.addEventListener("copy", put, { once: true });
  const done = copyBySelection(rich.markdown);
  document.removeEventListener("copy", put);
  return done;
}

/** The clipboard API needs a secure context; a LAN address over http has none. */
function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A download by its address; the server names and guards it. */
export function saveLink(address: string, name: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

export function dataUrlToBlob(url: string): Blob {
  const binary = atob(url.slice(url.indexOf(",") + 1));
  return new Blob([Uint8Array.from(binary, (char) => char.charCodeAt(0))], { type: "image/png" });
}
