import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import autocannon, { type Client } from 'autocannon'
import { programOnPath } from '../helpers/process.ts'

/** A path and the body to send to it. */
export interface Sent {
  readonly path: string
  readonly body?: string
  /** Headers of this request instead of those of the load. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Requests to send repeatedly. */
export interface Load {
  /** URL of the server, without a path. */
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  /** Requests, sent in turn. */
  readonly requests: readonly Sent[]
  readonly connections: number
  readonly seconds: number
}

/** Sends a load and returns the successful requests a second. Throws if one was refused or failed. */
export interface LoadTool {
  readonly name: string
  perSecond(load: Load): Promise<number>
}

/**
 * Uses wrk if it is installed: written in C, it leaves the processors to the server. Otherwise autocannon, which takes
 * as much of them as a server does, so that its ratios are nearer to 1 than they should be.
 */
export function loadTool(directory: string): LoadTool {
  const path = programOnPath('wrk')
  return path === undefined
    ? { name: 'autocannon', perSecond: byAutocannon }
    : { name: 'wrk', perSecond: (load) => byWrk(path, join(directory, `wrk-${randomUUID()}.lua`), load) }
}

async function byAutocannon({ seconds, requests, ...load }: Load): Promise<number> {
  const each = requests.map(({ path, body = '', headers }) => ({
    ...{ method: load.method, path, body },
    ...(headers && { headers }),
  }))
  let clients = 0
  // Each connection would start with the first request, but a create succeeds only once.
  const setupClient = (client: Client) => {
    const place = clients++ % load.connections
    const own = each.filter((_, index) => index % load.connections === place)
    if (own.length > 0) client.setRequests(own)
  }
  const {
    requests: answered,
    duration,
    non2xx,
    errors,
  } = await autocannon({ ...load, duration: seconds, requests: each, setupClient })
  if (non2xx > 0 || errors > 0) throw new Error(`${non2xx} refusals, ${errors} errors`)
  return answered.total / duration
}

async function byWrk(program: string, script: string, load: Load): Promise<number> {
  const { url, method, headers, requests, connections, seconds } = load
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  )
  writeFileSync(script, [`wrk.method = "${method}"`, ...lines, ...requestsOf(requests)].join('\n'))
  const args = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '-s', script, url]
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  await once(child, 'close')
  const [, rate] = /^Requests\/sec:\s+([\d.]+)$/m.exec(text) ?? []
  if (rate === undefined || /Non-2xx|Socket errors/.test(text)) throw new Error(`wrk: ${text}`)
  return Number(rate)
}

/** Makes all requests before the first is sent, so that wrk only takes the next one. */
function requestsOf(requests: readonly Sent[]): string[] {
  const made = requests.map(({ path, body, headers }) => {
    const text = body === undefined ? 'nil' : `[==[${body}]==]`
    return `all[#all + 1] = wrk.format(nil, ${JSON.stringify(path)}, ${headers ? tableOf(headers) : 'nil'}, ${text})`
  })
  // A Lua function has room for a limited number of constants.
  const parts = Array.from({ length: Math.ceil(made.length / 500) }, (_, index) =>
    made.slice(index * 500, (index + 1) * 500).join('\n'),
  )
  return [
    'local all, parts, at = {}, {}, 0',
    ...parts.map((part) => `parts[#parts + 1] = function() ${part} end`),
    'init = function() for _, part in ipairs(parts) do part() end end',
    'request = function() at = at % #all + 1 return all[at] end',
  ]
}

function tableOf(headers: Readonly<Record<string, string>>): string {
  const entries = Object.entries(headers).map(
    ([name, value]) => `[${JSON.stringify(name)}] = [==[${value}]==]`,
  )
  return `{ ${entries.join(', ')} }`
}
