import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestCli, test, testCli } from './cli.ts'
import { putNewAcademy, start } from './new-academy.ts'

/** Makes the records of an academy by commands. */
type Fill = (cli: TestCli) => Promise<void>

const env = { LEARNCTL_DATABASE: 'academy.db' }

/**
 * A vitest test for files whose tests begin with the same records: `local` has a copy of an academy that `fill` made once, when
 * each record got its own millisecond after `start` if `isTicking`.
 */
export function testWithFilled(fill: Fill, isTicking = false) {
  return test
    .extend('filling', { scope: 'file' }, async () => fill)
    .extend('filled', { scope: 'file' }, async ({ filling }) => {
      let time = Date.parse(start)
      const cli = testCli({ env, ...(isTicking && { now: () => ++time }) })
      try {
        const path = join(cli.cwd, 'academy.db')
        await putNewAcademy(path)
        await filling(cli)
        return readFileSync(path)
      } finally {
        cli.remove()
      }
    })
    .extend('local', async ({ options, filled }, { onCleanup }) => {
      const cli = testCli({ ...options, env: { ...options.env, ...env } })
      onCleanup(() => cli.remove())
      writeFileSync(join(cli.cwd, 'academy.db'), filled, { mode: 0o600 })
      return cli
    })
}
