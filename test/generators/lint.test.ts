import { test as base, expect } from 'vitest'
import { freshDirectory } from '../helpers/academy.ts'
import { isInstalled, run, writeDocument } from './installed.ts'

/** The document in a folder of its own, which is removed after the test. */
const test = base.extend('path', async ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  onCleanup(remove)
  return writeDocument(path)
})

test.runIf(isInstalled)(
  'redocly lint has nothing to say, with the rules that it recommends',
  async ({ path }) => {
    const output = await run('@redocly/cli/bin/cli.js', [
      'lint',
      path,
      '--format=json',
      '--max-problems=1000',
    ])
    const { totals, problems } = JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1))
    expect(problems).toEqual([])
    expect(totals).toMatchObject({ errors: 0, warnings: 0 })
  },
)

test.runIf(isInstalled)(
  'spectral lint has nothing to say, but for what spectral.yaml gives reasons for',
  async ({ path }) => {
    const output = await run('@stoplight/spectral-cli/dist/index.js', [
      'lint',
      path,
      '--ruleset=spectral.yaml',
      '--fail-severity=hint',
    ])
    expect(output).toContain("No results with a severity of 'hint' or higher found!")
  },
)
