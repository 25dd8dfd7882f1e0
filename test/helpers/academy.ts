import { test as base } from 'vitest'
import { openTestAcademy } from './test-academy.ts'

export * from './test-academy.ts'

/** A vitest test with an academy and users in it, each made for the tests that name it. */
export const test = base
  .extend('perMinute', 0)
  .extend('lockWaitMs', (): number | undefined => undefined)
  .extend('academy', async ({ perMinute, lockWaitMs }, { onCleanup }) => {
    const academy = await openTestAcademy({ perMinute, lockWaitMs })
    onCleanup(() => academy.close())
    return academy
  })
  .extend('clock', ({ academy }) => academy.clock)
  .extend('admin', ({ academy }) => academy.person('admin'))
  .extend('instructor', ({ academy }) => academy.person('instructor'))
  .extend('analyst', ({ academy }) => academy.person('analyst'))
  .extend('learner', ({ academy }) => academy.person('learner'))
