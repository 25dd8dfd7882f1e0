import { join } from 'node:path'
import { openAcademy } from '../../src/server/local.ts'
import { type LoadTool, loadTool } from './load.ts'
import { median, type Served, served } from './measure.ts'
import type { BenchRow } from './row.ts'
import { makeKey, post } from './seed.ts'

const rounds = 5
const seconds = 3
const connections = 16

/** Requests a second of our server, all its checks on, over a bare one that runs the same SQL; in turn, same load. */
export async function benchServer(bin: string, directory: string): Promise<BenchRow[]> {
  const [ours, bare] = [join(directory, 'ours.db'), join(directory, 'bare.db')]
  const key = await fill(ours)
  await fill(bare)
  // A limit that nobody reaches: the counting is what is measured.
  const limit = ['--rate-limit', '600000000']
  const academy = await served([bin, 'server', 'start', '--database', ours, '--port', '0', ...limit], {
    XDG_STATE_HOME: directory,
  })
  const tool = loadTool(directory)
  const yardstick = await served([join(import.meta.dirname, 'bare-server.ts'), bare])
  const rows = [
    await compare('list of 20 courses', 0.8, academy, yardstick, { tool, method: 'GET', key }),
    await compare('create a course', 0.9, academy, yardstick, { tool, method: 'POST', key }),
  ]
  await academy.stop()
  await yardstick.stop()
  return rows
}

async function fill(path: string): Promise<string> {
  const academy = openAcademy({ path })
  for (let index = 0; index < 1000; index += 1) {
    await post(academy, '/v1/courses', { title: `Course ${index}`, description: `About ${index}` })
  }
  const key = await makeKey(academy)
  academy.close()
  return key
}

interface Trial {
  readonly tool: LoadTool
  readonly method: 'GET' | 'POST'
  readonly key: string
}

async function compare(
  figure: string,
  goal: number,
  ours: Served,
  bare: Served,
  trial: Trial,
): Promise<BenchRow> {
  const pairs: [number, number][] = []
  for (let round = 0; round <= rounds; round += 1) {
    const pair: [number, number] = [await perSecond(ours, trial), await perSecond(bare, trial)]
    if (round > 0) pairs.push(pair) // The first one warms up.
  }
  const value = median(pairs.map(([one, other]) => one / other))
  const [mine, theirs] = [median(pairs.map(([one]) => one)), median(pairs.map(([, other]) => other))]
  const from = `${mine.toFixed(0)}/s over ${theirs.toFixed(0)}/s, ${trial.tool.name}, ${connections} connections, ${rounds} × ${seconds} s`
  return { figure: `server: ${figure}`, value, unit: 'ratio', goal, better: 'more', from }
}

function perSecond({ url }: Served, { tool, method, key }: Trial): Promise<number> {
  const body = JSON.stringify({ title: 'A course', description: 'About it', difficulty: 'beginner' })
  return tool.perSecond({
    url: `${url}/v1/courses`,
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(method === 'POST' && { body }),
    connections,
    seconds,
  })
}
