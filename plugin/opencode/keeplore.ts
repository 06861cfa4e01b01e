// Keeplore for OpenCode: hands what happens to Keeplore's client, and the client's answers to the model.
// It runs inside OpenCode, so it never throws, never waits long, and keeps no state that matters. There is one export,
// because OpenCode takes every export for a plugin. Without annotations any JavaScript runtime runs it as it stands.
// What it sends: docs/hosts/opencode.md.
import { spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, isAbsolute, join } from "node:path"
import { fileURLToPath } from "node:url"

const ASKED = ["session.created", "chat.message", "command.execute.before", "session.compacted"]
const TOLD = ["experimental.session.compacting", "session.idle", "session.error", "session.deleted"]
const OWN_COMMAND = /^(keeplore[:/])?(remember|recall|forget|memory)$/
const PATIENCE_MS = 2500 // the client itself answers within 1.5 s or not at all
const REPLY_MAX = 1_000_000 // characters
const isWindows = process.platform === "win32"

const stateDirectory = () => {
  const { KEEPLORE_STATE_DIR, XDG_STATE_HOME, LOCALAPPDATA } = process.env
  if (KEEPLORE_STATE_DIR) return KEEPLORE_STATE_DIR
  if (isWindows) return join(LOCALAPPDATA ?? join(homedir(), "AppData", "Local"), "keeplore")
  if (XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, "keeplore")
  const base = process.platform === "darwin" ? ["Library", "Application Support"] : [".local", "state"]
  return join(homedir(), ...base, "keeplore")
}

// The copy for this machine, which `keeplore connect` writes; else this is a checkout, and the client is in it.
const clientFolder = () => {
  const places = [join(stateDirectory(), "client"), join(dirname(fileURLToPath(import.meta.url)), "..", "keeplore", "client")]
  return places.find((place) => existsSync(join(place, "client.py")))
}

// Windows has no python3 for certain, and Keeplore's own interpreter is known there.
const python = () => {
  if (!isWindows) return "python3"
  try {
    return readFileSync(join(stateDirectory(), "python"), "utf8").split(/\r?\n/)[0] || "python"
  } catch {
    return "python"
  }
}

const dataDirectory = () => join(process.env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "opencode")

const hasRecord = (folder) => {
  try {
    return readdirSync(folder).some((name) => name === "storage" || /^opencode.*\.db$/.test(name))
  } catch {
    return false
  }
}

// What the client prints; "" when it cannot be run, fails, or takes too long. Resolves always.
const run = (command, payload, mayAnswer) =>
  new Promise((resolve) => {
    let said = ""
    try {
      const child = spawn(command[0], command.slice(1), {
        stdio: ["pipe", mayAnswer ? "pipe" : "ignore", "ignore"],
        detached: !mayAnswer, // what is told arrives also when OpenCode ends in this moment
        windowsHide: true,
      })
      const timer = setTimeout(() => {
        if (mayAnswer) child.kill()
        resolve("")
      }, PATIENCE_MS)
      const finish = (text) => {
        clearTimeout(timer)
        resolve(text)
      }
      child.on("error", () => finish(""))
      child.on("close", () => finish(said))
      child.stdin?.on("error", () => {})
      child.stdout?.setEncoding("utf8")
      child.stdout?.on("data", (text) => {
        if (said.length <= REPLY_MAX) said += text
      })
      child.stdin?.end(payload)
      if (!mayAnswer) child.unref()
    } catch {
      resolve("")
    }
  })

const send = async (event, payload, mayAnswer) => {
  const folder = clientFolder()
  if (!folder) return ""
  const asked = [python(), "-I", "-S", join(folder, "client.py"), "opencode", event]
  const told = isWindows ? asked : ["sh", join(folder, "client.sh"), "opencode", event]
  const said = await run(mayAnswer ? asked : told, JSON.stringify(payload), mayAnswer)
  try {
    const { context } = JSON.parse(String(said))
    return typeof context === "string" ? context : ""
  } catch {
    return ""
  }
}

// A part that OpenCode and Keeplore know as not typed by the person. Parts are sorted by ids, which begin with 48 bits of
// a counter that goes 4096 times a millisecond: this one comes behind those of the same message.
const synthetic = (message, text) => {
  const time = BigInt.asUintN(48, BigInt(Date.now()) * 4096n + 4095n)
  const random = Array.from({ length: 14 }, () => Math.floor(Math.random() * 36).toString(36)).join("")
  const id = `prt_${time.toString(16).padStart(12, "0")}${random}`
  return { id, sessionID: message.sessionID, messageID: message.id, type: "text", text, synthetic: true }
}

// What OpenCode asks beside the conversation, where a brief would only be a cost: its agents for that have prompts of their
// own; how these begin today is known where it does not list them.
const ASIDE = ["title", "summary", "compaction"]
const ASIDE_TEXT = /^(You are a title generator|You are a context summarization agent|Summarize what was done in this)/

export const Keeplore = async ({ client, directory }) => {
  if (process.env.KEEPLORE_OFF) return {}
  const parents = new Map() // session → the session whose subagent it is, or ""
  const briefs = new Map() // session → a promise of what its model is told with each request
  const commanded = new Set() // sessions whose next message is the text behind a command
  let asides // a promise of the prompts of agents that work beside the conversation

  const isAside = async (prompt) => {
    asides ??= Promise.resolve(client?.app?.agents?.())
      .then((found) => (found?.data ?? []).filter((agent) => ASIDE.includes(agent.name) && agent.prompt))
      .catch(() => [])
    return ASIDE_TEXT.test(prompt) || (await asides).some((agent) => prompt.startsWith(agent.prompt))
  }

  const parentOf = async (session) => {
    if (!parents.has(session)) {
      const found = await client?.session?.get?.({ path: { id: session } })
      parents.set(session, found?.data?.parentID ?? "")
    }
    return parents.get(session)
  }

  const messagesOf = async (session) => {
    const found = await client?.session?.messages?.({ path: { id: session } })
    return found?.data ?? []
  }

  const hand = async (event, session, more = {}, mayAnswer = ASKED.includes(event)) => {
    if (!session || (await parentOf(session).catch(() => ""))) return ""
    const data = dataDirectory()
    const payload = { sessionID: session, directory, time: Date.now(), ...more }
    if (hasRecord(data)) Object.assign(payload, { data })
    else if (!("messages" in payload)) {
      Object.assign(payload, { messages: await messagesOf(session).catch(() => []) })
    }
    return send(event, payload, mayAnswer)
  }

  // The brief stays the same for the whole session, also for one that goes on: what stands before the conversation is what
  // a prompt cache holds. OpenCode tells of no session that goes on.
  const begin = async (session, more = {}) => {
    if (!briefs.has(session)) briefs.set(session, hand("session.created", session, more))
    await briefs.get(session)
  }

  const safely =
    (act) =>
    async (...given) => {
      try {
        await act(...given)
      } catch {
        // a memory must not break the session that it remembers
      }
    }

  return {
    config: safely(async (config) => {
      const folder = clientFolder()
      if (!folder) return
      const command = [python(), "-I", "-S", join(folder, "mcp.py")]
      config.mcp = { keeplore: { type: "local", command, enabled: true }, ...config.mcp }
    }),

    event: safely(async ({ event }) => {
      const { type, properties } = event
      const session = properties?.sessionID ?? properties?.info?.id
      if (type === "session.created") parents.set(session, properties?.info?.parentID ?? "")
      if (type === "session.created") await begin(session)
      else if (type === "session.compacted") {
        const before = briefs.get(session)
        const brief = hand(type, session).then(async (told) => told || (await before))
        briefs.set(session, brief)
        await brief
      } else if (TOLD.includes(type)) {
        await hand(type, session)
      }
      if (type === "session.deleted") for (const known of [parents, briefs, commanded]) known.delete(session)
    }),

    "chat.message": safely(async (input, output) => {
      const session = input.sessionID
      const isOfCommand = commanded.delete(session)
      await begin(session, { source: "resume" })
      const messages = [{ info: output.message, parts: [...output.parts] }]
      const context = await hand("chat.message", session, { messages }, !isOfCommand)
      if (context) output.parts.push(synthetic({ ...output.message, sessionID: session }, context))
    }),

    "command.execute.before": safely(async (input, output) => {
      const command = { name: input.command, arguments: input.arguments ?? "" }
      commanded.add(input.sessionID)
      const context = await hand("command.execute.before", input.sessionID, { command }, OWN_COMMAND.test(input.command))
      if (context) output.parts.push({ type: "text", text: context, synthetic: true })
    }),

    "experimental.chat.system.transform": safely(async (input, output) => {
      const brief = await briefs.get(input.sessionID)
      if (brief && !(await isAside(output.system[0] ?? ""))) output.system.push(brief)
    }),

    "experimental.session.compacting": safely(async (input) => {
      await hand("experimental.session.compacting", input.sessionID)
    }),
  }
}
