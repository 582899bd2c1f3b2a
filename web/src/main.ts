/** Starts the page in place of its outline. */
import { mount } from "svelte";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/prose.css";
import "./styles/print.css";
import App from "./App.svelte";
import { printLight } from "./services/print";
import { prefs } from "./stores/prefs.svelte";

let started = false;
function start() {
  const target = document.getElementById("app");
  if (started || !target) return;
  started = true;
  target.replaceChildren();
  printLight();
  mount(App, { target });
}

// The outline is painted first; a tab in the background paints nothing and does not wait for it. Neither waits for long for the words.
const words = prefs.learn();
const begin = () => void words.then(start);
if (document.visibilityState === "visible") requestAnimationFrame(() => setTimeout(begin));
setTimeout(begin, document.visibilityState === "visible" ? 100 : 0);
