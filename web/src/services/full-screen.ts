/** Shows an element over all else: Tab stays inside, Escape leaves, and the focus returns to where it was. */

const REACHABLE = "a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), summary, [tabindex='0']";

export function fullScreen(element: HTMLElement, close: () => void): () => void {
  const before = document.activeElement as HTMLElement | null;
  // The top layer: an ancestor that contains its own painting would hold it back.
  element.classList.add("full-screen");
  element.setAttribute("popover", "manual");
  element.showPopover?.();
  const reachable = () => [...element.querySelectorAll<HTMLElement>(REACHABLE)].filter((one) => one.offsetParent !== null || one === document.activeElement);
  const key = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.stopImmediatePropagation();
      event.preventDefault();
      return close();
    }
    if (event.key !== "Tab") return;
    const list = reachable();
    const [first, last] = [list[0], list.at(-1)];
    const at = document.activeElement;
    const leaves = !element.contains(at) || (event.shiftKey ? at === first : at === last);
    if (!leaves) return;
    event.preventDefault();
    (event.shiftKey ? last : first)?.focus();
  };
  window.addEventListener("keydown", key, true);
  if (!element.contains(before)) reachable()[0]?.focus();
  return () => {
    window.removeEventListener("keydown", key, true);
    element.hidePopover?.();
    element.removeAttribute("popover");
    element.classList.remove("full-screen");
    before?.focus?.();
  };
}
