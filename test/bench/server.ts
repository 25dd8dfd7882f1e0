import { join } from 'node:path'
import { loadTool } from './load.ts'
import { compareInTurn, serveAcademy, startServer } from './measure.ts'
import { atLeast, type BenchRow } from './row.ts'
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
  const academy = await serveAcademy(bin, ours, directory)
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
    const { mine, theirs, ratio } = await compareInTurn(
      rounds,
      () => perSecond(academy.url, seeds[0], trial),
      () => perSecond(yardstick.url, seeds[1], trial),
    )
    rows.push({
      figure: `server: ${trial.figure}`,
      value: ratio,
      ...atLeast(goals[name as keyof typeof goals]),
      from: `${mine.toFixed(0)}/s over ${theirs.toFixed(0)}/s, ${tool.name}, ${connections} connections, ${rounds} × ${seconds} s`,
    })
  }
  await academy.stop()
  await yardstick.stop()
  return rows
}

const goals = { list: 0.95, get: 0.85, create: 0.55, progress: 0.9 }
