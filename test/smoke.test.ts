import { test as base, expect } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { freshDirectory } from './helpers/fresh-directory.ts'
import { putNewAcademy } from './helpers/new-academy.ts'
import { runLearnctl } from './helpers/process.ts'

// Runs the built program as processes; the files *.process.test.ts test the rest.

/** The built program in an empty home. */
const test = base
  .extend('home', async ({ task: _ }, { onCleanup }) => {
    const { path, remove } = freshDirectory()
    onCleanup(remove)
    return path
  })
  .extend('learnctl', ({ home }) => {
    const env = { HOME: home, LEARNCTL_DATABASE: 'academy.db' }
    return (...words: readonly string[]) => runLearnctl(words, { cwd: home, env })
  })

test('the built program creates a course, lists it, and reports one that is missing', async ({
  home,
  learnctl,
}) => {
  await putNewAcademy(`${home}/academy.db`)
  const created = await learnctl('courses', 'create', '--title', 'Sea', '-q')
  expect(created).toMatchObject({ code: 0, stderr: '' })
  const list = await learnctl('courses', 'list', '-q')
  expect(list).toMatchObject({ code: 0, stderr: '', stdout: created.stdout })
  expect(list.stdout).toMatch(/^crs_\w+\n$/)
  const missing = await learnctl('courses', 'get', 'ext:NONE')
  expect(missing).toMatchObject({ code: 3, stdout: '' })
  expect(missing.stderr).toMatch(/^error: .*NONE/)
})

test('the built program sets up an academy, lists and exports it, and serves it to another program', {
  tags: ['slow'],
}, async ({ home }) => {
  const learnctl = (...words: readonly string[]) => runLearnctl(words, { cwd: home, env: { HOME: home } })
  expect(await learnctl('--version')).toMatchObject({ code: 0, stdout: `${manifest.version}\n`, stderr: '' })
  expect(await learnctl('quickstart')).toMatchObject({ code: 0, stderr: '' })
  const list = await learnctl('courses', 'list', '-q')
  expect(list).toMatchObject({ code: 0, stderr: '' })
  expect(list.stdout).toMatch(/^(crs_\w+\n){3}$/)
  const exported = await learnctl('analytics', 'export', '--file', 'learners.csv.gz')
  expect(exported.code, exported.stderr).toBe(0)
  const script = 'process.stdout.write(process.env.LEARNCTL_URL)'
  const served = await learnctl('server', 'exec', '--', process.execPath, '-e', script)
  expect(served.stdout, served.stderr).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
})
