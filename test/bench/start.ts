import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import { atMost, type BenchRow, compareInTurn, measureMs, median, serveAcademy } from './measure.ts'
import { makeKey, post } from './seed.ts'

const repetitions = 21

/** Measures commands from start to end against an empty program on the same Node, alternately, as a script reads them. */
export async function benchStart(bin: string, directory: string): Promise<BenchRow[]> {
  const empty = join(directory, 'empty.mjs')
  writeFileSync(empty, '')
  const database = join(directory, 'start.db')
  const academy = await openAcademy({ path: database })
  for (let index = 0; index < 1000; index += 1) {
    await post(academy, '/v1/courses', { title: `Course ${index}`, description: `About ${index}` })
  }
  const key = await makeKey(academy)
  await academy.close()
  const server = await serveAcademy(bin, database, directory, '0')
  const env = {
    XDG_CONFIG_HOME: directory,
    XDG_STATE_HOME: directory,
    XDG_DATA_HOME: directory,
    LEARNCTL_API_KEY: key,
  }
  const commands: readonly (readonly [string, readonly string[], number])[] = [
    ['learnctl --version', ['--version'], 1.05],
    ['learnctl --help', ['--help'], 1.2],
    ['courses --help', ['courses', '--help'], 1.35],
    ['courses list in process (1,000 courses)', ['courses', 'list', '--database', database], 2.5],
    ['courses list over the wire', ['courses', 'list', '--url', server.url], 3.2],
  ]
  const bare: number[] = []
  const times = commands.map((): number[] => [])
  for (let round = 0; round <= repetitions; round += 1) {
    const own = [await measureMs(process.execPath, [empty], { stdout: 'pipe' })]
    for (const [, args] of commands) {
      own.push(await measureMs(process.execPath, [bin, ...args], { env, stdout: 'pipe' }))
    }
    if (round === 0) continue // The first round fills the caches.
    bare.push(own[0] ?? 0)
    own.slice(1).forEach((ms, index) => {
      times[index]?.push(ms)
    })
  }
  await server.stop()
  const floor = median(bare)
  return commands.map(([figure, , goal], index) => {
    const ms = median(times[index] ?? [])
    const from = `${ms.toFixed(0)} ms over ${floor.toFixed(0)} ms, ${repetitions} rounds`
    return { figure: `start: ${figure}`, value: ms / floor, ...atMost(goal), from }
  })
}

/** Measures a command with a temporary academy against Node running nothing, alternately. */
export async function benchExec(bin: string, directory: string): Promise<BenchRow[]> {
  const env = { HOME: directory, TMPDIR: directory }
  const { mine, theirs } = await compareInTurn(
    repetitions,
    () => measureMs(process.execPath, [bin, 'server', 'exec', '--', 'true'], { env }),
    () => measureMs(process.execPath, ['-e', '0']),
  )
  const from = `${mine.toFixed(0)} ms over ${theirs.toFixed(0)} ms, ${repetitions} rounds`
  return [{ figure: 'exec: server exec -- true', value: mine / theirs, ...atMost(8), from }]
}

/** Measures a command that `learnctl mcp` runs, and the same command as a process, alternately. */
export async function benchMcp(bin: string, directory: string): Promise<BenchRow[]> {
  const env = { ...process.env, HOME: directory }
  await measureMs(process.execPath, [bin, 'quickstart'], { env })
  const server = spawn(process.execPath, [bin, 'mcp'], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
  const ask = async (method: string, params: object) => {
    const startedMs = performance.now()
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`)
    const { value } = await lines.next()
    if (!String(value).includes('"result"')) throw new Error(`${method}: ${value}`)
    return performance.now() - startedMs
  }
  const clientInfo = { name: 'bench', version: '1' }
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  const { mine, theirs } = await compareInTurn(
    repetitions,
    () => ask('tools/call', { name: 'run', arguments: { argv: ['users', 'list'] } }),
    () => measureMs(process.execPath, [bin, 'users', 'list', '-o', 'json'], { env }),
  )
  server.stdin.end()
  // The goal is for what mcp adds to the command; this has the command in it.
  const from = `${theirs.toFixed(0)} ms as a process, ${repetitions} rounds`
  return [{ figure: 'mcp: run of users list, in all', value: mine, ...atMost(20, 'ms'), from }]
}
