/** The real `ba-agent` as a child process, with its own data folder and a scripted model. `BA_AGENT_BIN` names it. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startModel } from "../scripted-model.mjs";

export const BINARY = process.env.BA_AGENT_BIN;
/** For `describe`: without the binary nothing here runs, and that is said. */
export const skip = BINARY ? false : "BA_AGENT_BIN is not set: name the binary to test";
const READY = /BA-Agent is ready: (http:\/\/\S+)/;

/** Nothing of the caller's own configuration reaches the server under test. */
const cleanEnv = (extra) => ({ ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^BA_|_API_KEY$/.test(name))), ...extra });

export async function startBinary({ env = {}, config = "", listen = "127.0.0.1:0", users = {}, admins = {}, dataDir = mkdtempSync(join(tmpdir(), "ba-agent-page-")) } = {}) {
  for (const [name, password] of Object.entries({ ...users, ...admins })) {
    const added = spawnSync(BINARY, ["user", "add", name, ...(name in admins ? ["--admin"] : []), "--data-dir", dataDir], { input: `${password}\n`, env: cleanEnv({}), encoding: "utf8" });
    if (added.status !== 0) throw new Error(`user add: ${added.stdout}${added.stderr}`);
  }
  const settings = join(dataDir, "ba-agent.toml");
  writeFileSync(settings, config);
  const child = spawn(BINARY, ["serve", "--listen", listen, "--data-dir", dataDir, "--config", settings], { env: cleanEnv(env), cwd: dataDir, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready after 180 s:\n${output}`)), 180_000);
    const read = (chunk) => {
      output += chunk;
      const ready = READY.exec(output);
      if (ready) {
        clearTimeout(timer);
        resolve(ready[1].replace("localhost", "127.0.0.1"));
      }
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => reject(new Error(`ended with ${code}:\n${output}`)));
  });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const stop = async (signal = "SIGTERM") => {
    child.kill(signal);
    await ended;
  };
  return {
    url, dataDir,
    /** Ends it like a service manager does, or like a power cut. */
    stop,
    close: async () => {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The binary with a scripted model, or (`offline`) with the offline analyst. Made-up figures are marked, not sent back, unless a test says so. */
export async function startServer({ offline = false, pauseMs, audit = "mark", ...options } = {}) {
  const model = offline ? null : await startModel({ pauseMs });
  const env = model ? { BA_MODEL: "openai-compatible:scripted", BA_BASE_URL: model.url, BA_API_KEY: "test" } : { BA_MODEL: "offline" };
  env.BA_AUDIT = audit;
  const server = await startBinary({ env, ...options });
  return {
    ...server, env,
    close: async () => {
      await server.close();
      model?.close();
    },
  };
}

/** A wire to the server that can be cut, as a sleeping laptop does. */
export function startWire(target) {
  const { hostname, port } = new URL(target);
  const sockets = new Set();
  const wire = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) sockets.add(socket.on("error", () => {}).on("close", () => (sockets.delete(socket), near.destroy(), far.destroy())));
    near.pipe(far).pipe(near);
  });
  const cut = () => sockets.forEach((socket) => socket.destroy());
  return new Promise((resolve) => wire.listen(0, "127.0.0.1", () => resolve({ url: `http://127.0.0.1:${wire.address().port}`, cut, close: () => (cut(), wire.close()) })));
}
