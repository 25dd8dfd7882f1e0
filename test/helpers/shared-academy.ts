import { testCli, transportTo, test as withCli } from './cli.ts'
import { openTestAcademy, type Person, type TestAcademy } from './test-academy.ts'

/** Makes the records of an academy that tests share. */
export type Fill<Records> = (admin: Person, academy: TestAcademy) => Promise<Records>

/**
 * A vitest test for files whose tests only read: they share one academy, filled once, and its admin; whatever would write
 * throws. `school` is the program as the admin, with a home for each test.
 */
export function testWithShared<Records>(fill: Fill<Records>) {
  return withCli
    .extend('maker', { scope: 'file' }, async () => fill)
    .extend('shared', { scope: 'file' }, async ({ maker }, { onCleanup }) => {
      const academy = await openTestAcademy()
      onCleanup(() => academy.close())
      const admin = await academy.person('admin')
      const records = await maker(admin, academy)
      academy.freeze()
      return { academy, admin, records }
    })
    .extend('academy', ({ shared }) => shared.academy)
    .extend('admin', ({ shared }) => shared.admin)
    .extend('records', ({ shared }) => shared.records)
    .extend('school', ({ academy, admin }, { onCleanup }) => {
      const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key }
      const cli = testCli({ transport: transportTo(academy), env })
      onCleanup(() => cli.remove())
      return cli
    })
}
