import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import { measureMs, median, serveAcademy } from './measure.ts'
import { atMost, type BenchRow } from './row.ts'
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
