/** The open conversation: its turns, files, code, and the run in progress. Draws nothing. */
import { api, ApiError } from "$lib/api/client";
import type { CodeFile, UploadedFile } from "$lib/api/types";
import { asBody, explain } from "$lib/stores/errors";
import { DeltaJoiner } from "$lib/services/coalesce";
import { loadDraft, saveDraft } from "$lib/services/drafts";
import { RunStream, type RunEvent } from "$lib/services/run-stream";
import { announce } from "$lib/services/tabs";
import { applyEvent, connectionLost, fromHistory, newTurn, type Feedback, type Turn } from "$lib/services/turn";
import { choose, shownTurns, versionsOf } from "$lib/services/versions";
import { conversations } from "./conversations.svelte";
import { router } from "./router.svelte";
import { session } from "./session.svelte";
import { toasts } from "./toasts.svelte";
import { Uploads } from "./uploads.svelte";

const MODEL = "ba.model";
const loadModel = (): string => {
  try {
    return localStorage.getItem(MODEL) ?? "";
  } catch {
    return "";
  }
};
const saveModel = (name: string): void => {
  try {
    localStorage.setItem(MODEL, name);
  } catch {
    // Private mode: the choice lasts as long as the page.
  }
};

export class Chat {
  id = $state<string | null>(null);
  title = $state("");
  /** Every version of every turn. */
  #all = $state.raw<Turn[]>([]);
  #shown = $derived(shownTurns(this.#all));
  files = $state.raw<UploadedFile[]>([]);
  codes = $state.raw<CodeFile[]>([]);
  #draft = $state(loadDraft(null));
  /** Sent while an answer was being made: it goes when that has ended. */
  queued = $state<{ text: string; fileIds: string[] } | null>(null);
  /** The model that is asked, by name; the default one when empty. */
  #model = $state(loadModel());
  /** Not taken because the sign-in had expired: it goes once somebody is signed in again. */
  #unsent: { text: string; fileIds: string[]; replaced?: Turn } | null = null;
  phase = $state<"new" | "loading" | "ready" | "missing" | "error">("new");
  /** How many questions were sent from here: the view goes to each. */
  sent = $state(0);
  /** How many documents were made from here: the list of files looks again. */
  made = $state(0);
  uploads = new Uploads(this);
  #stream: RunStream | null = null;
  #visit = 0;
  /** When the server last changed what is shown here, as far as this page has read it. */
  #updatedAt = "";

  /** The question being written here; each conversation keeps its own. */
  get draft(): string {
    return this.#draft;
  }
  set draft(text: string) {
    this.#draft = text;
    saveDraft(this.id, text);
  }

  /** One version of each turn: the one that counts. */
  get turns(): Turn[] {
    return this.#shown;
  }
  set turns(all: Turn[]) {
    this.#all = all;
  }

  versions(turn: Turn): Turn[] {
    return versionsOf(this.#all, turn);
  }

  get model(): string {
    return (session.status?.models ?? []).some((model) => model.name === this.#model && !model.default) ? this.#model : "";
  }
  set model(name: string) {
    this.#model = name;
    saveModel(name);
  }

  get running(): Turn | undefined {
    return this.#all.find((turn) => turn.state === "running");
  }

  /** Every name in this conversation a link or image may point to. */
  fileNames = $derived(
    new Set([
      ...this.files.map((file) => file.filename),
      ...this.turns.flatMap((turn) => [...turn.artifacts.map((artifact) => artifact.name), ...(turn.answer?.metadata.download_links ?? [])]),
    ]),
  );

  usage = $derived.by(() => {
    let [input, output, cost, priced] = [0, 0, 0, false];
    for (const { answer } of this.#all) {
      input += answer?.metadata.usage?.input_tokens ?? 0;
      output += answer?.metadata.usage?.output_tokens ?? 0;
      if (typeof answer?.metadata.usage?.cost === "number") [cost, priced] = [cost + answer.metadata.usage.cost, true];
    }
    return { input, output, cost: priced ? cost : null };
  });

  async open(id: string | null): Promise<void> {
    if (id !== null && id === this.id && this.phase === "ready") return;
    this.#leave();
    const visit = (this.#visit += 1);
    this.id = id;
    this.#draft = loadDraft(id);
    this.phase = id === null ? "new" : "loading";
    if (id === null) return;
    try {
      const [detail, files] = await Promise.all([api.conversation(id), api.files(id).catch(() => [])]);
      if (visit !== this.#visit) return;
      this.#updatedAt = detail.updated_at;
      this.title = detail.title;
      this.turns = detail.rounds.map(fromHistory);
      this.files = files;
      this.phase = "ready";
      void this.refreshCodes();
      this.uploads.watch();
      await this.#rejoin(visit);
    } catch (error) {
      if (visit !== this.#visit) return;
      if (error instanceof ApiError && error.status === 401) return session.expired();
      this.phase = error instanceof ApiError && error.status === 404 ? "missing" : "error";
    }
  }

  /** Runs that go on without this page, or in another tab, are followed from their first event; a queued one after the one before it. */
  async #rejoin(visit: number): Promise<void> {
    const turn = this.running;
    if (!turn?.runId || visit !== this.#visit) return;
    // Its steps come again with the replay.
    this.#update(turn.key, (old) => ({ ...old, steps: [], answer: undefined }));
    await this.#follow(turn.key, new RunStream(this.#hooks(turn.key), { runId: turn.runId }));
    await this.#rejoin(visit);
  }

  /** Takes over what another tab or device has added to this conversation; nothing when it has not changed since. */
  async sync(updatedAt?: string): Promise<void> {
    const [id, visit] = [this.id, this.#visit];
    if (!id || this.phase !== "ready" || this.running || (updatedAt && updatedAt === this.#updatedAt)) return;
    try {
      const [detail, files] = await Promise.all([api.conversation(id), api.files(id)]);
      if (visit !== this.#visit || this.running) return;
      this.#updatedAt = detail.updated_at;
      const known = new Set(this.#all.map((turn) => turn.runId));
      const added = detail.rounds.filter((round) => !known.has(round.run_id)).map(fromHistory);
      const told = new Map(detail.rounds.map((round) => [round.run_id, round]));
      this.title = detail.title || this.title;
      if (files.length !== this.files.length) this.files = files;
      this.uploads.watch();
      this.#all = [...this.#all, ...added].map((turn) => {
        const chosen = told.get(turn.runId ?? "")?.chosen ?? turn.chosen;
        return chosen === turn.chosen ? turn : { ...turn, chosen };
      });
      if (added.length === 0) return;
      void this.refreshCodes();
      await this.#rejoin(visit);
    } catch (error) {
      if (visit !== this.#visit || !(error instanceof ApiError)) return;
      if (error.status === 401) session.expired();
      if (error.status === 404) this.phase = "missing";
    }
  }

  /** `replaced` is the turn this is another version of. */
  async send(message: string, fileIds: string[] = [], replaced?: Turn): Promise<void> {
    const text = message.trim();
    if (!text) return;
    if (this.running) return void (this.queued = { text, fileIds });
    const earlier = replaced ? this.versions(replaced) : [];
    const first = earlier.find((version) => version.runId);
    const last = replaced === undefined || this.turns.at(-1)?.key === replaced.key;
    const turn = { ...newTurn(text, fileIds), turnId: first?.turnId ?? first?.runId };
    // What never reached the server is no version of anything.
    const kept = this.#all.filter((old) => old.runId || !earlier.includes(old));
    this.#all = choose([...kept, turn], turn);
    if (last) this.sent += 1;
    if (!this.title) this.title = text.slice(0, 60);
    this.phase = "ready";
    const body = { message: text, ...(this.id ? { conversation_id: this.id } : {}), ...(fileIds.length ? { file_ids: fileIds } : {}),
      ...(this.model ? { model: this.model } : {}), ...(first?.runId ? { replaces: first.runId } : {}) };
    await this.#follow(turn.key, new RunStream(this.#hooks(turn.key)), body);
  }

  async stop(): Promise<void> {
    const turn = this.running;
    if (!turn) return;
    if (!turn.runId) {
      this.#stream?.close();
      this.#update(turn.key, (old) => ({ ...old, state: "cancelled" }));
      return;
    }
    try {
      await api.cancel(turn.runId);
    } catch (error) {
      toasts.show(explain(error), "error");
    }
  }

  retry(turn: Turn): void {
    void this.send(turn.question, turn.fileIds, turn);
  }

  /** Shows another version; later questions build on it. */
  async choose(version: Turn): Promise<void> {
    this.#all = choose(this.#all, version);
    if (!version.runId) return;
    await api.chooseVersion(version.runId).catch((error: unknown) => toasts.show(explain(error), "error"));
  }

  async rate(turn: Turn, feedback: Feedback | null): Promise<void> {
    if (!turn.runId) return;
    const before = turn.feedback;
    this.#update(turn.key, (old) => ({ ...old, feedback: feedback ?? undefined }));
    try {
      await api.rate(turn.runId, feedback);
    } catch (error) {
      this.#update(turn.key, (old) => ({ ...old, feedback: before }));
      toasts.show(explain(error), "error");
    }
  }

  /** Somebody is signed in again: what was not taken goes now. */
  async resume(): Promise<void> {
    const unsent = this.#unsent;
    this.#unsent = null;
    if (!unsent) return;
    if (this.draft === unsent.text) this.draft = "";
    await this.send(unsent.text, unsent.fileIds, unsent.replaced);
  }

  #hooks(key: string) {
    const joiner = new DeltaJoiner((event) => {
      if (event.type === "run.started" && typeof event.data.conversation_id === "string") this.adopt(event.data.conversation_id);
      this.#update(key, (turn) => ({ ...applyEvent(turn, event), reconnecting: false }));
      if (event.type !== "run.started") return;
      void conversations.refresh();
      if (this.id) announce(this.id);
    });
    return {
      onEvent: (event: RunEvent) => joiner.push(event),
      onState: (state: "connected" | "reconnecting") => {
        joiner.flush();
        this.#update(key, (turn) => (state === "reconnecting" ? connectionLost(turn) : { ...turn, reconnecting: false }));
      },
    };
  }

  async #follow(key: string, stream: RunStream, body?: Parameters<RunStream["follow"]>[0]): Promise<void> {
    this.#stream = stream;
    try {
      await stream.follow(body);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return this.#signInFirst(key);
      this.#update(key, (turn) => ({ ...turn, state: "failed", error: asBody(error), reconnecting: false }));
    } finally {
      if (this.#stream === stream) this.#stream = null;
    }
    void this.refreshCodes();
    void conversations.refresh().then(() => this.#adoptTitle());
    const next = this.queued;
    if (!next || this.running || this.#stream) return;
    this.queued = null;
    await this.send(next.text, next.fileIds);
  }

  /** The question was not taken: it is kept, also over a reload, and sent after signing in. A run that goes on is followed again then. */
  #signInFirst(key: string): void {
    const turn = this.#all.find((one) => one.key === key);
    if (turn && !turn.runId) {
      const replaced = this.versions(turn).filter((version) => version.runId).at(-1);
      this.#unsent = { text: turn.question, fileIds: turn.fileIds, replaced };
      this.#all = this.#all.filter((one) => one !== turn);
      if (replaced) this.#all = choose(this.#all, replaced);
      if (!this.draft) this.draft = turn.question;
    } else if (turn) this.phase = "error";
    session.expired();
  }

  #adoptTitle(): void {
    const listed = conversations.list.find((item) => item.conversation_id === this.id);
    if (listed?.title) this.title = listed.title;
  }

  /** The server made a conversation for this page: the address names it, nothing reloads. */
  adopt(id: string): void {
    if (this.id === id) return;
    const draft = this.draft;
    this.draft = "";
    this.id = id;
    this.draft = draft;
    if (this.phase === "new") this.phase = "ready";
    router.replace(`/c/${encodeURIComponent(id)}`);
    void conversations.refresh().then(() => this.#adoptTitle());
  }

  async refreshCodes(): Promise<void> {
    const id = this.id;
    if (!id) return;
    const codes = await api.codes(id).catch(() => null);
    if (codes && id === this.id) this.codes = codes;
  }

  #update(key: string, change: (turn: Turn) => Turn): void {
    this.#all = this.#all.map((turn) => (turn.key === key ? change(turn) : turn));
  }

  #leave(): void {
    this.#stream?.close();
    this.#stream = null;
    this.queued = null;
    this.uploads.clear();
    this.title = "";
    this.turns = [];
    this.files = [];
    this.codes = [];
  }
}

export const chat = new Chat();
