/** A list an administrator looks at: fetched, fetched again after a change, its errors told. */
import { explain } from "$lib/stores/errors";
import { toasts } from "$lib/stores/toasts.svelte";

export class Loaded<T> {
  value = $state.raw<T | null>(null);
  problem = $state("");
  #fetch: () => Promise<T>;

  constructor(fetch: () => Promise<T>) {
    this.#fetch = fetch;
    void this.again();
  }

  async again(): Promise<void> {
    try {
      this.value = await this.#fetch();
      this.problem = "";
    } catch (error) {
      this.problem = explain(error);
    }
  }

  /** Does it, looks again; false when it was refused. */
  async change(act: () => Promise<unknown>): Promise<boolean> {
    try {
      await act();
      await this.again();
      return true;
    } catch (error) {
      toasts.show(explain(error), "error");
      return false;
    }
  }
}
