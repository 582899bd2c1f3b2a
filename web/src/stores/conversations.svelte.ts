/** The list in the sidebar. Knows titles and order; knows nothing of what is inside a conversation. */
import { api } from "$lib/api/client";
import type { ConversationSummary } from "$lib/api/types";
import { announce } from "$lib/services/tabs";
import { explain } from "$lib/stores/errors";
import { toasts } from "./toasts.svelte";

const POLL_MS = 3000;

class Conversations {
  list = $state.raw<ConversationSummary[]>([]);
  search = $state("");
  loaded = $state(false);
  #request = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Told of each conversation whose answer has come to its end. */
  onFinished: (item: ConversationSummary) => void = () => {};

  /** `quiet` when nobody asked for it: then an error is not worth a message. */
  async refresh(quiet = false): Promise<void> {
    const request = (this.#request += 1);
    try {
      const list = await api.conversations(this.search.trim());
      // A slow answer to an older search must not replace a newer one.
      if (request === this.#request) this.#take(list);
    } catch (error) {
      if (!quiet) toasts.show(explain(error), "error");
    } finally {
      this.loaded = true;
    }
  }

  /** While something is being answered the list is looked at again, so that its end is seen here too. */
  #take(list: ConversationSummary[]): void {
    const before = new Set(this.list.filter((item) => item.running).map((item) => item.conversation_id));
    this.list = list;
    clearTimeout(this.#timer);
    if (list.some((item) => item.running)) this.#timer = setTimeout(() => void this.refresh(true), POLL_MS);
    for (const item of list) if (!item.running && before.has(item.conversation_id)) this.onFinished(item);
  }

  async mark(id: string, marks: { pinned?: boolean; tags?: string[] }): Promise<void> {
    await api.mark(id, marks);
    await this.refresh();
    announce(id);
  }

  async rename(id: string, title: string): Promise<void> {
    await api.rename(id, title);
    this.list = this.list.map((item) => (item.conversation_id === id ? { ...item, title } : item));
    announce(id);
  }

  async remove(id: string): Promise<void> {
    await api.remove(id);
    this.list = this.list.filter((item) => item.conversation_id !== id);
    announce(id);
  }
}

export const conversations = new Conversations();
