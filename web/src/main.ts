/** Starts the page in place of its outline. */
import { mount } from "svelte";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/prose.css";
import App from "./App.svelte";

const target = document.getElementById("app");
if (target) {
  target.replaceChildren();
  mount(App, { target });
}
