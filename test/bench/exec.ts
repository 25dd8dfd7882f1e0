import { measureMs, median } from './measure.ts'
import { atMost, type BenchRow } from './row.ts'

const repetitions = 21

/** Measures a command with a temporary academy against Node running nothing, alternately. */
export async function benchExec(bin: string, directory: string): Promise<BenchRow[]> {
  const env = { HOME: directory, TMPDIR: directory }
  const bare: number[] = []
  const own: number[] = []
  for (let round = 0; round <= repetitions; round += 1) {
    const floorMs = await measureMs(process.execPath, ['-e', '0'])
    const ms = await measureMs(process.execPath, [bin, 'server', 'exec', '--', 'true'], { env })
    if (round === 0) continue // The first round fills the caches.
    bare.push(floorMs)
    own.push(ms)
  }
  const [ms, floorMs] = [median(own), median(bare)]
  const from = `${ms.toFixed(0)} ms over ${floorMs.toFixed(0)} ms, ${repetitions} rounds`
  return [
    {
      figure: 'exec: server exec -- true',
      value: ms / floorMs,
      ...atMost(8),
      from,
    },
  ]
}
