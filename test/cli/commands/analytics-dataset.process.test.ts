import type { ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { runLearnctl } from '../../helpers/process.ts'

interface Line {
  readonly id: string
  readonly title: string
  readonly changeNumber: number
  readonly changeState: string
}

/** Kills a process as soon as a folder has this many files of a run. */
const killAt = (folder: string, run: string, files: number) => async (child: ChildProcess) => {
  const count = () =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes(run)).length
      : 0
  while (child.exitCode === null && child.signalCode === null && count() < files) await setTimeout(1)
  child.kill('SIGKILL')
}

test('a data set has each change once, however often its runs were killed', async ({ local }) => {
  const env = { HOME: local.home, LEARNCTL_DATABASE: 'academy.db', CI: 'true' }
  const folder = join(local.cwd, 'set')
  const start = (watch?: (child: ChildProcess) => void) =>
    runLearnctl(['analytics', 'dataset', 'set', '-o', 'jsonl'], { cwd: local.cwd, env, watch })
  const titles = (round: number) =>
    Array.from({ length: 40 }, (_, index) => `C${index},Course ${index} of round ${round}\n`).join('')
  const change = (round: number) =>
    local.run('courses import - --on-exists update', { stdin: `externalId,title\n${titles(round)}` })
  for (const round of [0, 1, 2, 3, 4, 5]) {
    expect(await change(round)).toMatchObject({ code: 0 })
    // While the files are opened, written, completed and described.
    await start(killAt(folder, 'run-', 1 + round * 2))
  }
  await start(killAt(folder, 'load.sql', 1))
  expect(await start()).toMatchObject({ code: 0 })
  const { runs } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  const paths: string[] = runs.flatMap(({ files }: { files: { path: string }[] }) =>
    files.map(({ path }) => path),
  )
  const found = readdirSync(join(folder, 'tables'), { recursive: true, encoding: 'utf8' })
  expect(found.filter((path) => path.includes('.')).sort()).toEqual(
    paths.map((path) => path.replace('tables/', '')).sort(),
  )
  const newest = new Map<string, Line>()
  for (const path of paths.filter((each) => each.includes('/courses/'))) {
    for (const text of readFileSync(join(folder, path), 'utf8').trimEnd().split('\n')) {
      const line: Line = JSON.parse(text)
      if ((newest.get(line.id)?.changeNumber ?? 0) < line.changeNumber) newest.set(line.id, line)
    }
  }
  const { stdout } = await local.run('courses list --all -o csv --columns id,title')
  const expected = stdout.trimEnd().split('\r\n').slice(1)
  expect([...newest.values()].map(({ id, title }) => `${id},${title}`).sort()).toEqual(expected.sort())
  expect(expected).toHaveLength(40)
})
