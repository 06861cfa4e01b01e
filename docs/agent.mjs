// An agent in Node that remembers: `node agent.mjs` in a project, after `keeplore init ~/memory`.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { randomUUID } from "node:crypto";

const session = randomUUID();
const keeplore = spawn("keeplore", ["emit", "--host", "node-agent", "--answers"], {
  stdio: ["pipe", "pipe", "inherit"],
});
const answers = createInterface({ input: keeplore.stdout })[Symbol.asyncIterator]();

async function emit(event, fields) {
  keeplore.stdin.write(JSON.stringify({ event, session, ...fields }) + "\n");
  const answer = JSON.parse((await answers.next()).value);
  if (!answer.ok) console.error(`not remembered: ${answer.error}`);
  return answer.context ?? "";
}

const model = async (context, prompt) => `(an answer to: ${prompt})`; // call yours here

let context = await emit("session", { phase: "started" });
for (const user of process.argv.slice(2)) {
  context += await emit("prompt", { user });
  const reply = await model(context, user);
  await emit("turn", { user, replies: [reply] });
  console.log(reply);
  context = "";
}
await emit("session", { phase: "ended" });
keeplore.stdin.end();
