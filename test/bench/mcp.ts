import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { measureMs, median } from './measure.ts'
import { atMost, type BenchRow } from './row.ts'

const repetitions = 21

/** Measures a command that `learnctl mcp` runs, and the same command as a process, alternately. */
export async function benchMcp(bin: string, directory: string): Promise<BenchRow[]> {
  const env = { ...process.env, HOME: directory }
  await measureMs(process.execPath, [bin, 'quickstart'], { env })
  const server = spawn(process.execPath, [bin, 'mcp'], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
  const ask = async (method: string, params: object) => {
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`)
    const { value } = await lines.next()
    if (!String(value).includes('"result"')) throw new Error(`${method}: ${value}`)
  }
  const clientInfo = { name: 'bench', version: '1' }
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  const own: number[] = []
  const command: number[] = []
  for (let round = 0; round <= repetitions; round += 1) {
    const startedMs = performance.now()
    await ask('tools/call', { name: 'run', arguments: { argv: ['users', 'list'] } })
    const ms = performance.now() - startedMs
    const commandMs = await measureMs(process.execPath, [bin, 'users', 'list', '-o', 'json'], { env })
    if (round === 0) continue // The first round fills the caches.
    own.push(ms)
    command.push(commandMs)
  }
  server.stdin.end()
  const [ms, commandMs] = [median(own), median(command)]
  return [
    {
      // The goal is for what mcp adds to the command; this has the command in it.
      figure: 'mcp: run of users list, in all',
      value: ms,
      ...atMost(20, 'ms'),
      from: `${commandMs.toFixed(0)} ms as a process, ${repetitions} rounds`,
    },
  ]
}
