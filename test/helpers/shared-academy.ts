import { testCli, transportTo, test as withCli } from './cli.ts'
import { openTestAcademy, type Person, type TestAcademy } from './test-academy.ts'

/** An academy that the tests of a file share, with what `fill` returned. */
export interface Shared<Records> {
  readonly academy: TestAcademy
  readonly admin: Person
  readonly records: Records
}

/** Makes the records of an academy that tests share. */
export type Fill<Records> = (admin: Person, academy: TestAcademy) => Promise<Records>

/** Opens an academy, and fills it once; from then on whatever would write throws. */
export async function openShared<Records>(fill: Fill<Records>): Promise<Shared<Records>> {
  const academy = await openTestAcademy()
  const admin = await academy.person('admin')
  const records = await fill(admin, academy)
  academy.freeze()
  return { academy, admin, records }
}

/**
 * A vitest test for files whose tests only read: they share one academy and its admin. `school` is the program as the admin,
 * with a home for each test.
 */
export function testWithShared<Records>(fill: Fill<Records>) {
  return withCli
    .extend('maker', { scope: 'file' }, async () => fill)
    .extend('shared', { scope: 'file' }, async ({ maker }, { onCleanup }): Promise<Shared<Records>> => {
      const shared = await openShared(maker)
      onCleanup(() => shared.academy.close())
      return shared
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
