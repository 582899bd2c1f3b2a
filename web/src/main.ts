/** Starts the page in place of its outline. */
import { mount } from "svelte";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/prose.css";
import "./styles/print.css";
import App from "./App.svelte";
import { printLight } from "./services/print";

let started = false;
function start() {
  const target = document.getElementById("app");
  if (started || !target) return;
  started = true;
  target.replaceChildren();
  printLight();
  mount(App, { target });
}

// The outline is painted first; a tab in the background paints nothing and does not wait for it.
if (document.visibilityState === "visible") requestAnimationFrame(() => setTimeout(start));
setTimeout(start, document.visibilityState === "visible" ? 100 : 0);
