import { join } from 'node:path'
import { loadTool } from './load.ts'
import { median, startServer } from './measure.ts'
import type { BenchRow } from './row.ts'
import { fillAcademy, type Seed, type Trial, trials } from './trials.ts'

const rounds = 5
const seconds = 3
const connections = 16

/**
 * Measures requests a second of our server with all its checks against a bare one that runs the same SQL, alternately
 * and with the same load.
 */
export async function benchServer(bin: string, directory: string): Promise<BenchRow[]> {
  const [ours, bare] = [join(directory, 'ours.db'), join(directory, 'bare.db')]
  const seeds = [await fillAcademy(ours), await fillAcademy(bare)] as const
  // A limit that is never reached: counting requests is part of the work.
  const limit = ['--rate-limit', '600000000']
  const academy = await startServer([bin, 'server', 'start', '--database', ours, '--port', '0', ...limit], {
    XDG_STATE_HOME: directory,
  })
  const tool = loadTool(directory)
  const yardstick = await startServer([join(import.meta.dirname, 'bare-server.ts'), bare])
  const rows: BenchRow[] = []
  for (const [name, trial] of Object.entries(trials)) {
    const perSecond = (url: string, seed: Seed, { method, requestsOf }: Trial) =>
      tool.perSecond({
        method,
        url,
        headers: { authorization: `Bearer ${seed.key}`, 'content-type': 'application/json' },
        requests: requestsOf(seed),
        connections,
        seconds,
      })
    rows.push(
      await compare(
        trial.figure,
        goals[name as keyof typeof goals],
        tool.name,
        () => perSecond(academy.url, seeds[0], trial),
        () => perSecond(yardstick.url, seeds[1], trial),
      ),
    )
  }
  await academy.stop()
  await yardstick.stop()
  return rows
}

const goals = { list: 0.9, get: 0.85, create: 1, progress: 1 }

async function compare(
  figure: string,
  goal: number,
  tool: string,
  ours: () => Promise<number>,
  bare: () => Promise<number>,
): Promise<BenchRow> {
  const pairs: [number, number][] = []
  for (let round = 0; round <= rounds; round += 1) {
    const pair: [number, number] = [await ours(), await bare()]
    if (round > 0) pairs.push(pair) // The first round warms up.
  }
  const value = median(pairs.map(([one, other]) => one / other))
  const [mine, theirs] = [median(pairs.map(([one]) => one)), median(pairs.map(([, other]) => other))]
  const from = `${mine.toFixed(0)}/s over ${theirs.toFixed(0)}/s, ${tool}, ${connections} connections, ${rounds} × ${seconds} s`
  return { figure: `server: ${figure}`, value, unit: 'ratio', goal, better: 'more', from }
}
