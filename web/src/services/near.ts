/** Tells when an element comes near the view of the conversation's scroller. (A margin only counts on the observer's own root.) */
export function whenNear(element: HTMLElement, marginPx: number, onChange: (near: boolean) => void): () => void {
  const root = element.closest<HTMLElement>("[data-scroller]");
  const observer = new IntersectionObserver((entries) => onChange(entries.at(-1)?.isIntersecting ?? false), { root, rootMargin: `${marginPx}px 0px` });
  observer.observe(element);
  return () => observer.disconnect();
}
