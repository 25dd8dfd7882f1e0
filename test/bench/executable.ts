import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import { measureMs, median } from './measure.ts'
import { atMost, type BenchRow } from './row.ts'

const starts = 21

/** Measures the size of the executable, and its start beside the package's. */
export async function benchExecutable(bin: string, directory: string): Promise<BenchRow[]> {
  const { platform, arch } = process
  execFileSync(process.execPath, [join(dirname(bin), '../packaging/executable.ts'), directory], {
    stdio: 'ignore',
  })
  const executable = join(directory, `learnctl-${platform}-${arch}${platform === 'win32' ? '.exe' : ''}`)
  const size: BenchRow = {
    figure: 'packaging: size of the executable',
    value: statSync(executable).size / 1e6,
    ...atMost(130, 'MB'),
    from: `Node ${process.version} itself: ${(statSync(process.execPath).size / 1e6).toFixed(1)} MB`,
  }
  return [size, ...(await measureStarts(bin, executable, directory))]
}

/** Measures commands of the executable and of the package alternately, after each has filled its caches. */
async function measureStarts(bin: string, executable: string, directory: string): Promise<BenchRow[]> {
  const database = join(directory, 'packaging.db')
  const commands = [['--version'], ['courses', '--help'], ['courses', 'list', '--database', database]]
  const env = { HOME: directory, XDG_CACHE_HOME: join(directory, 'cache') }
  await (await openAcademy({ path: database })).close()
  const rows: BenchRow[] = []
  for (const words of commands) {
    const times: { executable: number[]; package: number[] } = { executable: [], package: [] }
    for (let round = 0; round <= starts; round += 1) {
      const ms = {
        executable: await measureMs(executable, words, { env }),
        package: await measureMs(process.execPath, [bin, ...words], { env }),
      }
      if (round === 0) continue
      times.executable.push(ms.executable)
      times.package.push(ms.package)
    }
    const [one, other] = [median(times.executable), median(times.package)]
    rows.push({
      figure: `packaging: executable, ${words.slice(0, 2).join(' ')}`,
      value: one / other,
      ...atMost(1.05),
      from: `${one.toFixed(0)} ms over the package’s ${other.toFixed(0)} ms, ${starts} rounds`,
    })
  }
  return rows
}
