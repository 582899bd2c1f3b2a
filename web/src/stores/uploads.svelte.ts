/** Files on their way into the open conversation, from the drop to the finished profile. */
import { api, ApiError, urls } from "$lib/api/client";
import type { IngestOptions, UploadedFile, UploadResult } from "$lib/api/types";
import { explain } from "$lib/stores/errors";
import { announce } from "$lib/services/tabs";
import { uploadFile } from "$lib/services/upload";
import { t } from "./prefs.svelte";
import { toasts } from "./toasts.svelte";

export interface Pending {
  key: number;
  name: string;
  size: number;
  fraction: number;
  error?: string;
  abort: AbortController;
}

interface Target {
  id: string | null;
  files: UploadedFile[];
  adopt(id: string): void;
}

const POLL_MS = 700;

export class Uploads {
  pending = $state.raw<Pending[]>([]);
  /** Ids of files that go with the next question. */
  attached = $state.raw<string[]>([]);
  /** How far the reading of a file has come, by its id. */
  reading = $state.raw<Record<string, { fraction: number; message: string }>>({});
  #events: EventSource | null = null;
  #chat: Target;
  #next = 1;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(chat: Target) {
    this.#chat = chat;
  }

  get busy(): boolean {
    return this.pending.some((item) => !item.error);
  }

  /** One after the other: the first may create the conversation the others belong to. */
  async add(files: Iterable<File>): Promise<void> {
    const items = [...files].map((file) => ({
      file,
      pending: { key: this.#next++, name: file.name, size: file.size, fraction: 0, abort: new AbortController() } satisfies Pending,
    }));
    this.pending = [...this.pending, ...items.map((item) => item.pending)];
    for (const { file, pending } of items) {
      if (!pending.abort.signal.aborted) await this.#one(file, pending);
    }
  }

  async #one(file: File, pending: Pending): Promise<void> {
    try {
      const progress = (fraction: number) => this.#change(pending.key, { fraction });
      this.accept(await uploadFile(file, this.#chat.id ?? undefined, progress, pending.abort.signal));
      this.dismiss(pending.key);
    } catch (error) {
      if (error instanceof ApiError && error.code === "aborted") return this.dismiss(pending.key);
      const message = explain(error);
      this.#change(pending.key, { error: message });
      toasts.show(t("error.upload", { name: file.name, message }), "error");
    }
  }

  accept(result: UploadResult): void {
    this.#chat.adopt(result.conversation_id);
    const ids = new Set(result.files.map((file) => file.file_id));
    this.#chat.files = [...this.#chat.files.filter((file) => !ids.has(file.file_id)), ...result.files];
    this.attached = [...this.attached, ...ids];
    announce(result.conversation_id);
    this.watch();
  }

  async sample(name: string): Promise<void> {
    this.accept(await api.loadSample(name, this.#chat.id ?? undefined));
  }

  /** The profile is made after the upload is acknowledged: asks until every file is ready or has failed. */
  watch(): void {
    if (this.#timer) clearTimeout(this.#timer);
    const open = this.#chat.files.filter((file) => file.status === "processing" || (file.status === "ready" && file.profile === undefined));
    if (open.length === 0 || !this.#chat.id) return this.#deaf();
    this.#listen(this.#chat.id);
    this.#timer = setTimeout(() => void this.#poll(open, this.#chat.id ?? ""), POLL_MS);
  }

  /** Progress comes as events; polling alone would do, but says nothing in between. */
  #listen(conversation: string): void {
    if (this.#events || typeof EventSource === "undefined") return;
    this.#events = new EventSource(urls.fileEvents(conversation));
    this.#events.addEventListener("file.progress", (event) => {
      const { file_id, fraction, message } = JSON.parse(event.data as string) as { file_id: string; fraction: number; message: string };
      this.reading = { ...this.reading, [file_id]: { fraction, message } };
    });
    this.#events.onerror = () => this.#deaf();
  }

  #deaf(): void {
    this.#events?.close();
    this.#events = null;
  }

  async #poll(open: UploadedFile[], conversation: string): Promise<void> {
    const fresh = await Promise.all(open.map((file) => api.file(file.file_id, conversation).catch(() => null)));
    if (this.#chat.id !== conversation) return;
    const byId = new Map(fresh.flatMap((file) => (file ? [[file.file_id, { ...file, profile: file.profile ?? null }] as const] : [])));
    this.#chat.files = this.#chat.files.map((file) => byId.get(file.file_id) ?? file);
    this.watch();
  }

  async remove(file: UploadedFile): Promise<void> {
    if (!this.#chat.id) return;
    try {
      await api.removeFile(file.file_id, this.#chat.id);
      this.#chat.files = this.#chat.files.filter((other) => other.file_id !== file.file_id);
      this.detach(file.file_id);
    } catch (error) {
      toasts.show(explain(error), "error");
    }
  }

  /** What the server made of a file takes its place in the list. */
  #replace(file: UploadedFile): void {
    this.#chat.files = this.#chat.files.map((other) => (other.file_id === file.file_id ? file : other));
  }

  /** Shown as being read at once; a choice the server refuses leaves the file as it was. */
  async readAgain(file: UploadedFile, options: IngestOptions): Promise<void> {
    const conversation = this.#chat.id;
    if (!conversation) return;
    const { [file.file_id]: _, ...others } = this.reading;
    this.reading = others;
    this.#replace({ ...file, status: "processing", profile: undefined });
    try {
      const read = await api.ingestFile(file.file_id, conversation, options);
      if (this.#chat.id !== conversation) return;
      this.#replace(read.status === "processing" ? read : { ...read, profile: read.profile ?? null });
      announce(conversation);
    } catch (error) {
      if (this.#chat.id === conversation) this.#replace(file);
      toasts.show(explain(error), "error");
    }
    this.watch();
  }

  async describe(file: UploadedFile, description: string): Promise<void> {
    const conversation = this.#chat.id;
    if (!conversation) return;
    try {
      const described = await api.describeFile(file.file_id, conversation, description);
      const now = this.#chat.files.find((other) => other.file_id === file.file_id);
      if (this.#chat.id === conversation && now) this.#replace({ ...now, description: described.description });
    } catch (error) {
      toasts.show(explain(error), "error");
    }
  }

  detach(id: string): void {
    this.attached = this.attached.filter((other) => other !== id);
  }

  /** The files that go with the question being sent; what had failed was seen and goes. */
  take(): string[] {
    const failed = new Set(this.#chat.files.filter((file) => file.status === "failed").map((file) => file.file_id));
    const ids = this.attached.filter((id) => !failed.has(id));
    this.attached = [];
    this.pending = this.pending.filter((item) => !item.error);
    return ids;
  }

  dismiss(key: number): void {
    this.pending.find((item) => item.key === key)?.abort.abort();
    this.pending = this.pending.filter((item) => item.key !== key);
  }

  clear(): void {
    for (const item of this.pending) item.abort.abort();
    if (this.#timer) clearTimeout(this.#timer);
    this.#deaf();
    this.pending = [];
    this.attached = [];
    this.reading = {};
  }

  #change(key: number, change: Partial<Pending>): void {
    this.pending = this.pending.map((item) => (item.key === key ? { ...item, ...change } : item));
  }
}
