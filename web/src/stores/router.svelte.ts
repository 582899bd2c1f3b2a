/** Where the reader is: `#/`, `#/c/<conversation>`, `#/monitor`, `#/monitor/<run>`, `#/board`, `#/admin`. */

export type Route = { name: "chat"; conversation: string | null } | { name: "monitor"; run: string | null } | { name: "board" } | { name: "admin" };

export function parseRoute(hash: string): Route {
  const [, first, second] = hash.replace(/^#/, "").split("/");
  if (first === "monitor") return { name: "monitor", run: second ? decodeURIComponent(second) : null };
  if (first === "board" || first === "admin") return { name: first };
  return { name: "chat", conversation: first === "c" && second ? decodeURIComponent(second) : null };
}

class Router {
  route = $state.raw<Route>(parseRoute(location.hash));

  constructor() {
    addEventListener("hashchange", () => (this.route = parseRoute(location.hash)));
  }

  go(path: string): void {
    location.hash = path;
  }

  /** The new conversation got its id: the address follows, the page stays as it is. */
  replace(path: string): void {
    history.replaceState(null, "", `#${path}`);
    this.route = parseRoute(`#${path}`);
  }
}

export const router = new Router();
