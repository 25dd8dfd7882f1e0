import { test as base, expect } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { freshDirectory } from './helpers/fresh-directory.ts'
import { runLearnctl } from './helpers/process.ts'

// Runs the built program as processes; the files *.process.test.ts test the rest.

/** The built program in an empty home. */
const test = base.extend('learnctl', async ({ task: _ }, { onCleanup }) => {
  const { path: home, remove } = freshDirectory()
  onCleanup(remove)
  return (...words: readonly string[]) => runLearnctl(words, { cwd: home, env: { HOME: home } })
})

test('the built program says its version, sets up an academy and lists it', async ({ learnctl }) => {
  expect(await learnctl('--version')).toMatchObject({ code: 0, stdout: `${manifest.version}\n`, stderr: '' })
  expect(await learnctl('quickstart')).toMatchObject({ code: 0, stderr: '' })
  const list = await learnctl('courses', 'list', '-q')
  expect(list).toMatchObject({ code: 0, stderr: '' })
  expect(list.stdout).toMatch(/^(crs_\w+\n){3}$/)
})

test('the built program exports an academy, serves it to another program, and reports what is missing', {
  tags: ['slow'],
}, async ({ learnctl }) => {
  expect(await learnctl('quickstart')).toMatchObject({ code: 0, stderr: '' })
  const exported = await learnctl('analytics', 'export', '--file', 'learners.csv.gz')
  expect(exported.code, exported.stderr).toBe(0)
  const script = 'process.stdout.write(process.env.LEARNCTL_URL)'
  const served = await learnctl('server', 'exec', '--', process.execPath, '-e', script)
  expect(served.stdout, served.stderr).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const missing = await learnctl('courses', 'get', 'ext:NONE')
  expect(missing).toMatchObject({ code: 3, stdout: '' })
  expect(missing.stderr).toMatch(/^error: .*NONE/)
})
