/**
 * A document to write to, for scripts that run where there is none. Keeps what a script put where, as text the frame can check;
 * lays nothing out and knows no events but "loaded".
 */
import type { Change, Known } from "../script-protocol";

const escape = (text: string) => text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign] ?? sign);
const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const quoted = (value: string) => escape(value).replaceAll('"', "&quot;");

export class FakeElement {
  tagName: string;
  className: string;
  readonly ref: number;
  #id: string;
  #written: string | null = null;
  #attributes = new Map<string, string>();
  children: FakeElement[] = [];
  dataset: Record<string, string> = {};
  style: Record<string, unknown> & { setProperty?: (name: string, value: string) => void };
  readonly clientWidth = 760;
  readonly clientHeight = 360;
  readonly offsetWidth = 760;
  readonly offsetHeight = 360;
  parentNode: FakeElement | null = null;

  constructor(readonly owner: FakeDocument, tag: string, id = "", className = "", ref = -1) {
    [this.tagName, this.#id, this.className, this.ref] = [tag.toUpperCase(), id, className, ref];
    const style: Record<string, unknown> = {};
    Object.defineProperty(style, "setProperty", { enumerable: false, value: (name: string, value: string) => (style[name] = value) });
    this.style = style as FakeElement["style"];
  }

  get id() { return this.#id; }
  set id(value: string) {
    this.#id = String(value);
    this.owner.named.set(this.#id, this);
  }
  get textContent() { return (this.#written ?? "").replace(/<[^>]*>/g, ""); }
  set textContent(value: unknown) { this.#write(escape(String(value))); }
  get innerText() { return this.textContent; }
  set innerText(value: unknown) { this.textContent = value; }
  get innerHTML() { return (this.#written ?? "") + this.children.map((child) => child.html()).join(""); }
  set innerHTML(value: unknown) {
    this.#write(String(value));
    this.owner.adopt(String(value));
  }
  get parentElement() { return this.parentNode; }
  get firstChild() { return this.children[0] ?? null; }
  get classList() {
    const names = () => this.className.split(/\s+/).filter(Boolean);
    const set = (list: string[]) => void (this.className = list.join(" "));
    return {
      add: (...more: string[]) => set([...new Set([...names(), ...more])]), remove: (...less: string[]) => set(names().filter((name) => !less.includes(name))),
      toggle: (name: string) => set(names().includes(name) ? names().filter((one) => one !== name) : [...names(), name]), contains: (name: string) => names().includes(name),
    };
  }

  #write(html: string) {
    this.#written = html;
    this.children = [];
  }

  appendChild<T extends FakeElement>(child: T): T {
    this.append(child);
    return child;
  }
  append(...added: (FakeElement | string)[]) {
    for (const one of added) {
      if (!(one instanceof FakeElement)) this.#written = (this.#written ?? "") + escape(String(one));
      else {
        one.parentNode = this;
        this.children.push(one);
      }
    }
  }
  prepend(...added: (FakeElement | string)[]) { this.append(...added); }
  insertBefore(child: FakeElement) { return this.appendChild(child); }
  insertAdjacentHTML(_where: string, html: string) {
    this.#written = (this.#written ?? "") + String(html);
    this.owner.adopt(String(html));
  }
  removeChild(child: FakeElement) {
    this.children = this.children.filter((one) => one !== child);
    return child;
  }
  remove() { this.parentNode?.removeChild(this); }
  setAttribute(name: string, value: unknown) {
    if (name === "id") this.id = String(value);
    else if (name === "class") this.className = String(value);
    else this.#attributes.set(name, String(value));
  }
  getAttribute(name: string) { return name === "id" ? this.id : this.#attributes.get(name) ?? null; }
  hasAttribute(name: string) { return this.#attributes.has(name); }
  removeAttribute(name: string) { this.#attributes.delete(name); }
  getBoundingClientRect() { return { x: 0, y: 0, top: 0, left: 0, right: 760, bottom: 360, width: 760, height: 360 }; }
  querySelector(selector: string) { return this.owner.querySelector(selector); }
  querySelectorAll(selector: string) { return this.owner.querySelectorAll(selector); }
  closest() { return null; }
  contains() { return true; }
  addEventListener() {}
  removeEventListener() {}
  dispatchEvent() { return true; }
  focus() {}
  click() {}
  getContext() { return null; }

  css() { return Object.entries(this.style).map(([name, value]) => `${kebab(name)}:${String(value)}`).join(";"); }
  html(): string {
    const tag = /^[a-z][a-z0-9]*$/i.test(this.tagName) ? this.tagName.toLowerCase() : "div";
    const attributes = [["id", this.id], ["class", this.className], ["style", this.css()], ...this.#attributes];
    const written = attributes.filter(([, value]) => value).map(([name, value]) => ` ${name}="${quoted(value ?? "")}"`).join("");
    return `<${tag}${written}>${this.innerHTML}</${tag}>`;
  }

  /** What the script did to an element that was there before it. */
  change(): Change | null {
    const [style, added] = [this.css(), this.children.map((child) => child.html()).join("")];
    if (this.#written === null && !style && !added) return null;
    return { ref: this.ref, style, ...(this.#written === null ? { append: added } : { html: this.#written + added }) };
  }
}

export class FakeDocument {
  readonly named = new Map<string, FakeElement>();
  readonly known: FakeElement[];
  readonly body: FakeElement;
  readonly documentElement: FakeElement;
  readonly head: FakeElement;
  readonly listeners: (() => void)[] = [];
  title = "";
  cookie = "";
  readyState = "loading";
  readonly currentScript = null;

  constructor(known: Known[]) {
    this.known = known.map((one, ref) => new FakeElement(this, one.tag, one.id, one.classes, ref));
    for (const element of this.known) if (element.id && !this.named.has(element.id)) this.named.set(element.id, element);
    this.body = this.known[0] ?? new FakeElement(this, "body");
    this.documentElement = new FakeElement(this, "html");
    this.head = new FakeElement(this, "head");
  }

  /** Elements inside of HTML that a script wrote can be asked for by their id. */
  adopt(html: string) {
    for (const [, id = ""] of html.matchAll(/\bid\s*=\s*["']?([\w-]+)/gi)) if (!this.named.has(id)) this.named.set(id, new FakeElement(this, "div", id));
  }
  getElementById(id: string) { return this.named.get(String(id)) ?? null; }
  createElement(tag: string) { return new FakeElement(this, String(tag)); }
  createElementNS(_space: string, tag: string) { return this.createElement(tag); }
  createTextNode(text: string) {
    const node = this.createElement("span");
    node.textContent = text;
    return node;
  }
  createDocumentFragment() { return this.createElement("div"); }
  querySelectorAll(selector: string): FakeElement[] {
    const last = String(selector).trim().split(/[\s>+~]+/).pop() ?? "";
    const [, tag = "", id = "", cls = ""] = /^([a-z][a-z0-9]*)?(?:#([\w-]+))?(?:\.([\w-]+))?/i.exec(last) ?? [];
    if (id) return [this.named.get(id)].filter((one) => one !== undefined);
    return this.known.filter((one) => (!tag || one.tagName === tag.toUpperCase()) && (!cls || one.classList.contains(cls)) && (tag || cls));
  }
  querySelector(selector: string) { return this.querySelectorAll(selector)[0] ?? null; }
  getElementsByClassName(name: string) { return this.querySelectorAll(`.${name}`); }
  getElementsByTagName(name: string) { return this.querySelectorAll(name); }
  addEventListener(name: string, listener: () => void) {
    if (/^(?:DOMContentLoaded|load|readystatechange)$/.test(name)) this.listeners.push(listener);
  }
  removeEventListener() {}
  write(html: string) { this.body.insertAdjacentHTML("beforeend", html); }
  changes(): Change[] { return this.known.map((element) => element.change()).filter((change) => change !== null); }
}
