import { median, timed } from './measure.ts'
import type { BenchRow } from './row.ts'

const repetitions = 21

/** How long a command takes with an academy of its own, over Node that runs nothing, one after the other in turn. */
export async function benchExec(bin: string, directory: string): Promise<BenchRow[]> {
  const env = { HOME: directory, TMPDIR: directory }
  const bare: number[] = []
  const own: number[] = []
  for (let round = 0; round <= repetitions; round += 1) {
    const floorMs = await timed(process.execPath, ['-e', '0'])
    const ms = await timed(process.execPath, [bin, 'server', 'exec', '--', 'true'], { env })
    if (round === 0) continue // The first one fills the caches.
    bare.push(floorMs)
    own.push(ms)
  }
  const [ms, floorMs] = [median(own), median(bare)]
  const from = `${ms.toFixed(0)} ms over ${floorMs.toFixed(0)} ms, ${repetitions} rounds`
  return [
    {
      figure: 'exec: server exec -- true',
      value: ms / floorMs,
      unit: 'ratio',
      goal: 8,
      better: 'less',
      from,
    },
  ]
}
