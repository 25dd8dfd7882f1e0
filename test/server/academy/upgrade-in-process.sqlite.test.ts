import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { upgradeInProcess } from '../../../src/server/academy/upgrade-in-process.ts'
import { schemaVersion } from '../../../src/server/database/database.ts'
import { makeOldAcademy } from '../../helpers/old-academy.ts'
import { test } from '../socket/served.ts'

function versionOf(path: string): unknown {
  using database = new DatabaseSync(path, { readOnly: true })
  return database.prepare('pragma user_version').get()?.['user_version']
}

test('a terminal slower than the upgrade gets all steps', { tags: ['slow'] }, async ({ directory }) => {
  const path = join(directory, 'academy.db')
  makeOldAcademy(path)
  const told: string[] = []
  await upgradeInProcess(path, {
    signal: new AbortController().signal,
    everyMs: 10,
    async onProgress({ step, steps }) {
      await expect.poll(() => versionOf(path)).toBe(schemaVersion)
      told.push(`${step} of ${steps}`)
    },
  })
  expect([...new Set(told)]).toEqual([1, 2, 3, 4, 5, 6, 7].map((step) => `${step} of 7`))
  expect(told).toEqual(told.toSorted())
})
