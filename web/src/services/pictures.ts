/** What on the page can be had as pictures: a chart's or frame's element, and how its PNGs are made. */

const makers = new WeakMap<Element, () => Promise<string[]>>();
const LONGEST_MS = 8000;

export function offersPictures(element: Element, make: () => Promise<string[]>): () => void {
  makers.set(element, make);
  return () => makers.delete(element);
}

/** Data addresses of PNG pictures; none when they cannot be made in time. */
export function picturesOf(element: Element | undefined): Promise<string[]> {
  const make = element && makers.get(element);
  if (!make) return Promise.resolve([]);
  return Promise.race([make().catch(() => []), new Promise<string[]>((resolve) => setTimeout(() => resolve([]), LONGEST_MS))]);
}
