import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import { atMost, type BenchRow, compareInTurn, measureMs, median } from './measure.ts'

const repetitions = 5
const starts = 21

/** Measures the packed program as a newcomer gets it: its size, and the time until `quickstart` has ended. */
export async function benchPackaging(bin: string, directory: string): Promise<BenchRow[]> {
  const folder = join(directory, 'packed')
  mkdirSync(folder)
  const root = join(dirname(bin), '..')
  await measureMs('npm', ['pack', root, '--ignore-scripts', '--pack-destination', folder])
  const [name = ''] = readdirSync(folder)
  const archive = join(folder, name)
  const install: number[] = []
  const quickstart: number[] = []
  for (let round = 0; round <= repetitions; round += 1) {
    const home = join(directory, 'home')
    const prefix = join(home, 'prefix')
    const empty = { XDG_CONFIG_HOME: undefined, XDG_DATA_HOME: undefined, XDG_STATE_HOME: undefined }
    const env = { ...empty, HOME: home, npm_config_cache: join(home, 'cache'), npm_config_offline: 'true' }
    mkdirSync(home)
    const flags = ['--prefix', prefix, '--ignore-scripts', '--no-audit', '--no-fund']
    const installMs = await measureMs('npm', ['install', '--global', archive, ...flags], { env })
    const program = join(prefix, 'bin/learnctl')
    const quickstartMs = await measureMs(program, ['quickstart'], { env, cwd: home })
    rmSync(home, { recursive: true })
    if (round === 0) continue // The first round fills the caches.
    install.push(installMs)
    quickstart.push(quickstartMs)
  }
  const total = median(install.map((ms, round) => ms + (quickstart[round] ?? 0)))
  return [
    {
      figure: 'packaging: size of the package',
      value: statSync(archive).size / 1e6,
      ...atMost(2, 'MB'),
      from: name,
    },
    {
      figure: 'packaging: size that the image adds to its base',
      value: (await unpackedBytes(archive, join(directory, 'unpacked'))) / 1e6,
      ...atMost(10, 'MB'),
      from: 'packaging/Dockerfile unpacks the package',
    },
    {
      figure: 'packaging: from nothing to the end of quickstart, without the download',
      value: total / 1000,
      ...atMost(5, 's'),
      from: `${median(install).toFixed(0)} ms npm install, ${median(quickstart).toFixed(0)} ms quickstart, ${repetitions} rounds`,
    },
    ...(await benchExecutable(bin, directory)),
  ]
}

async function unpackedBytes(archive: string, folder: string): Promise<number> {
  mkdirSync(folder)
  await measureMs('tar', ['-xzf', archive, '-C', folder])
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) =>
    statSync(join(folder, path)),
  )
  return files.reduce((sum, { size }) => sum + size, 0)
}

/** Measures the size of the executable, and commands of it and of the package alternately. */
async function benchExecutable(bin: string, directory: string): Promise<BenchRow[]> {
  const { platform, arch } = process
  execFileSync(process.execPath, [join(dirname(bin), '../packaging/executable.ts'), directory], {
    stdio: 'ignore',
  })
  const executable = join(directory, `learnctl-${platform}-${arch}${platform === 'win32' ? '.exe' : ''}`)
  const rows: BenchRow[] = [
    {
      figure: 'packaging: size of the executable',
      value: statSync(executable).size / 1e6,
      ...atMost(130, 'MB'),
      from: `Node ${process.version} itself: ${(statSync(process.execPath).size / 1e6).toFixed(1)} MB`,
    },
  ]
  const database = join(directory, 'packaging.db')
  const env = { HOME: directory, XDG_CACHE_HOME: join(directory, 'cache') }
  await (await openAcademy({ path: database })).close()
  for (const words of [['--version'], ['courses', '--help'], ['courses', 'list', '--database', database]]) {
    const { mine, theirs } = await compareInTurn(
      starts,
      () => measureMs(executable, words, { env }),
      () => measureMs(process.execPath, [bin, ...words], { env }),
    )
    rows.push({
      figure: `packaging: executable, ${words.slice(0, 2).join(' ')}`,
      value: mine / theirs,
      ...atMost(1.05),
      from: `${mine.toFixed(0)} ms over the package’s ${theirs.toFixed(0)} ms, ${starts} rounds`,
    })
  }
  return rows
}
