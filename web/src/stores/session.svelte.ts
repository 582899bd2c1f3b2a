/** Who is here and what the server is: status, sign-in. */
import { api, ApiError } from "$lib/api/client";
import type { SampleInfo, Status } from "$lib/api/types";

class Session {
  status = $state.raw<Status | null>(null);
  user = $state<string | null>(null);
  phase = $state<"loading" | "ready" | "signin" | "unreachable">("loading");

  async start(): Promise<void> {
    try {
      this.status = await api.status();
      if (this.status.auth_required) this.user = (await api.me()).user;
      this.phase = "ready";
    } catch (error) {
      this.phase = error instanceof ApiError && error.status === 401 ? "signin" : "unreachable";
    }
  }

  /** What the page holds in memory belongs to whoever was here: for anyone else it starts anew. */
  async signIn(username: string, password: string): Promise<void> {
    const before = this.user;
    await api.login(username, password);
    const now = (await api.me()).user;
    if (before !== null && before !== now) return location.reload();
    await this.start();
  }

  async signOut(): Promise<void> {
    // A session that has ended already is what was wanted.
    await api.logout().catch((error: unknown) => {
      if (!(error instanceof ApiError && error.status === 401)) throw error;
    });
    location.reload();
  }

  /** A request was refused: the session has ended. */
  expired(): void {
    this.phase = "signin";
  }

  /** On loopback without sign-in everyone is an administrator. */
  get admin(): boolean {
    return this.status !== null && (!this.status.auth_required || this.status.role === "admin");
  }

  get samples(): SampleInfo[] {
    return this.status?.samples ?? [];
  }

  /** What the file picker offers; the server decides. */
  get accept(): string {
    return (this.status?.file_types ?? []).map((ending) => `.${ending}`).join(",");
  }
}

export const session = new Session();
