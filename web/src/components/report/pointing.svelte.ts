/**
 * Which figure of a report is looked at: pointed at, focused, or tapped (then it stays until one taps elsewhere). One set of listeners for
 * all figures, for there may be thousands. In a table Enter goes to its figures and the arrow keys from one to the next.
 */
export interface Pointed {
  index: number;
  left: number;
  top: number;
  /** There is no room below it. */
  above: boolean;
}

/** The way from a figure to its card takes a moment. */
const LINGER_MS = 180;
const FIGURE = "[data-figure]";
const CARD_PART = "[data-part=figure-card]";
/** The widest a card gets, and about the highest. */
const CARD = { width: 560, height: 260 };

export class Pointing {
  at = $state<Pointed | null>(null);
  #pinned = false;
  #leaving: ReturnType<typeof setTimeout> | undefined;
  #described: Element | null = null;

  constructor(readonly root: () => HTMLElement, readonly cardId: string) {}

  over = (event: Event) => {
    const target = event.target as Element | null;
    if (target?.closest?.(CARD_PART)) return clearTimeout(this.#leaving);
    const element = target?.closest?.<HTMLElement>(FIGURE);
    if (element) return void (this.#pinned && event.type === "mouseover" ? undefined : this.#show(element, false));
    this.leave();
  };

  leave = () => {
    if (this.#pinned) return;
    clearTimeout(this.#leaving);
    this.#leaving = setTimeout(() => this.hide(), LINGER_MS);
  };

  /** Away at once, unless the card itself is used. */
  focusOut = (event: FocusEvent) => {
    if (!this.#pinned && !(event.relatedTarget as Element | null)?.closest?.(CARD_PART)) this.hide();
  };

  click = (event: Event) => {
    const element = (event.target as Element | null)?.closest?.<HTMLElement>(FIGURE);
    if (element) this.#show(element, true);
  };

  /** Anywhere on the page. */
  outside = (event: Event) => {
    const target = event.target as Element | null;
    if (this.at && !target?.closest?.(CARD_PART) && !(target?.closest?.(FIGURE) && this.root().contains(target))) this.hide();
  };

  key = (event: KeyboardEvent) => {
    if (event.key === "Escape" && this.at) {
      event.stopPropagation();
      return this.hide();
    }
    const target = event.target as HTMLElement;
    const figure = target.closest<HTMLElement>(FIGURE);
    if (event.key === "Enter" && figure) return this.#show(figure, true);
    if (event.key === "Enter" && target.matches("[role=region]")) return this.#focus(event, target.querySelector<HTMLElement>(FIGURE));
    const cell = figure?.closest("td");
    if (cell && event.key.startsWith("Arrow")) this.#focus(event, neighbour(cell, event.key));
  };

  hide(): void {
    clearTimeout(this.#leaving);
    this.#pinned = false;
    this.at = null;
    this.#described?.removeAttribute("aria-describedby");
    this.#described = null;
  }

  #focus(event: Event, element: HTMLElement | null): void {
    if (!element) return;
    event.preventDefault();
    element.focus();
  }

  #show(element: HTMLElement, pinned: boolean): void {
    clearTimeout(this.#leaving);
    const [at, frame] = [element.getBoundingClientRect(), this.root().getBoundingClientRect()];
    this.#pinned = pinned;
    const above = at.bottom + CARD.height > innerHeight && at.top > CARD.height;
    this.at = {
      index: Number(element.dataset.figure), above, left: Math.max(0, Math.min(at.left - frame.left, frame.width - CARD.width)),
      top: above ? at.top - frame.top - 4 : at.bottom - frame.top + 4,
    };
    this.#described?.removeAttribute("aria-describedby");
    element.setAttribute("aria-describedby", this.cardId);
    this.#described = element;
  }
}

/** The next figure of the table that way: along the row, or down the column. */
function neighbour(cell: HTMLTableCellElement, key: string): HTMLElement | null {
  const down = key === "ArrowDown" || key === "ArrowUp";
  const back = key === "ArrowUp" || key === "ArrowLeft";
  const column = cell.cellIndex;
  let row: HTMLTableRowElement | null = cell.parentElement as HTMLTableRowElement;
  let next: Element | null | undefined = cell;
  for (let step = 0; step < 2000; step += 1) {
    if (down) {
      row = (back ? row?.previousElementSibling : row?.nextElementSibling) as HTMLTableRowElement | null;
      next = row?.cells[column];
    } else next = back ? next?.previousElementSibling : next?.nextElementSibling;
    if (!next) return null;
    const found = next.querySelector<HTMLElement>(FIGURE);
    if (found) return found;
  }
  return null;
}
