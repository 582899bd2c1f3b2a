/** The real `ba-agent` as a child process, with its own data folder. `BA_AGENT_BIN` names it. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const BINARY = process.env.BA_AGENT_BIN;
const READY = /BA-Agent is ready: (http:\/\/\S+)/;

/** Nothing of the caller's own configuration reaches the server under test. */
const cleanEnv = (extra) => ({ ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^BA_|_API_KEY$/.test(name))), ...extra });

export async function startBinary({ env = {}, listen = "127.0.0.1:0", users = {}, dataDir = mkdtempSync(join(tmpdir(), "ba-agent-page-")) } = {}) {
  for (const [name, password] of Object.entries(users)) {
    const added = spawnSync(BINARY, ["user", "add", name, "--data-dir", dataDir], { input: `${password}\n`, env: cleanEnv({}), encoding: "utf8" });
    if (added.status !== 0) throw new Error(`user add: ${added.stdout}${added.stderr}`);
  }
  const child = spawn(BINARY, ["serve", "--listen", listen, "--data-dir", dataDir], { env: cleanEnv(env), cwd: dataDir, stdio: ["ignore", "pipe", "pipe"] });
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
  return {
    url, dataDir, output: () => output,
    /** Ends it like a service manager does, or like a power cut. */
    stop: async (signal = "SIGTERM") => {
      child.kill(signal);
      await ended;
    },
    close: async () => {
      child.kill("SIGTERM");
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
