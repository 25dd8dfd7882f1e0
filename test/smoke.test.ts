import { test as base, expect } from 'vitest'
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

test('the built program creates, lists, and reports a missing course', async ({ home, learnctl }) => {
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
