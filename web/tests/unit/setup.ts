/** jsdom has no media queries and no observers; the page only needs them to exist. */
globalThis.matchMedia ??= (() => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} })) as unknown as typeof matchMedia;
class NoObserver {
  observe() {}
  unobserve() {}
  disconnect() {}
}
globalThis.IntersectionObserver ??= NoObserver as unknown as typeof IntersectionObserver;
globalThis.ResizeObserver ??= NoObserver as unknown as typeof ResizeObserver;

const { prefs } = await import("../../src/stores/prefs.svelte");
const { said } = await import("../../src/stores/said.svelte");
await Promise.all([prefs.learn("zh"), prefs.learn("en"), said.load()]);
export {};
