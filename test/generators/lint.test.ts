import { expect, test } from 'vitest'
import { isInstalled, run, writeDocument } from './installed.ts'

test.runIf(isInstalled)('redocly lint has nothing to say, with the rules that it recommends', async () => {
  const path = writeDocument()
  const output = await run('@redocly/cli/bin/cli.js', ['lint', path, '--format=json', '--max-problems=1000'])
  const { totals, problems } = JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1))
  expect(problems).toEqual([])
  expect(totals).toMatchObject({ errors: 0, warnings: 0 })
})

test.runIf(isInstalled)(
  'spectral lint has nothing to say, but for what spectral.yaml gives reasons for',
  async () => {
    const output = await run('@stoplight/spectral-cli/dist/index.js', [
      'lint',
      writeDocument(),
      '--ruleset=spectral.yaml',
      '--fail-severity=hint',
    ])
    expect(output).toContain("No results with a severity of 'hint' or higher found!")
  },
)
