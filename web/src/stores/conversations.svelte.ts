/** The list in the sidebar. Knows titles and order; knows nothing of what is inside a conversation. */
import { api } from "$lib/api/client";
import type { ConversationSummary } from "$lib/api/types";
import { announce } from "$lib/services/tabs";
import { explain } from "$lib/stores/errors";
import { toasts } from "./toasts.svelte";

class Conversations {
  list = $state.raw<ConversationSummary[]>([]);
  search = $state("");
  loaded = $state(false);
  #request = 0;

  /** `quiet` when nobody asked for it: then an error is not worth a message. */
  async refresh(quiet = false): Promise<void> {
    const request = (this.#request += 1);
    try {
      const list = await api.conversations(this.search.trim());
      // A slow answer to an older search must not replace a newer one.
      if (request === this.#request) this.list = list;
    } catch (error) {
      if (!quiet) toasts.show(explain(error), "error");
    } finally {
      this.loaded = true;
    }
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
