/** Short notices at the edge of the page; they leave by themselves, errors a little later. */

export interface Toast {
  id: number;
  text: string;
  kind: "info" | "error";
}

class Toasts {
  list = $state<Toast[]>([]);
  #next = 1;

  show(text: string, kind: Toast["kind"] = "info"): void {
    const id = this.#next++;
    this.list = [...this.list.slice(-3), { id, text, kind }];
    setTimeout(() => this.dismiss(id), kind === "error" ? 8000 : 2500);
  }

  dismiss(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }
}

export const toasts = new Toasts();
