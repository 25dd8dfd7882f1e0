import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { InterruptedError } from '../../../src/cli/terminal/errors.ts'
import { schemaVersion } from '../../../src/server/database/database.ts'
import { test } from '../../helpers/cli.ts'
import { lockForWriting, makeLargeOldAcademy, makeOldAcademy, oldVersion } from '../../helpers/old-academy.ts'

function versionOf(path: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database.prepare('pragma user_version').get()?.['user_version']
  } finally {
    database.close()
  }
}

test('opening a large old academy tells how long its upgrade takes', { tags: ['slow'] }, async ({ cli }) => {
  const path = join(cli.cwd, 'academy.db')
  makeLargeOldAcademy(path)
  const ran = await cli.run('users list -q --database academy.db')
  expect(ran.code).toBe(0)
  expect(ran.stderr.replaceAll(/\d+ s/g, '0 s')).toBe(
    `note: Upgrading ${path} for this version of learnctl; this takes about a minute, and can be interrupted
note: Upgrade: step 1 of 7 (0 s)
note: Upgrade: step 2 of 7 (0 s)
note: Upgrade: step 3 of 7 (0 s)
note: Upgrade: step 4 of 7 (0 s)
note: Upgrade: step 5 of 7 (0 s)
note: Upgrade: step 6 of 7 (0 s)
note: Upgrade: step 7 of 7 (0 s)
`,
  )
  expect(versionOf(path)).toBe(schemaVersion)
  expect(await cli.run('users list -q --database academy.db')).toMatchObject({ code: 0, stderr: '' })
})

test('a small academy is brought up to date without a word', async ({ cli }) => {
  const path = join(cli.cwd, 'academy.db')
  makeOldAcademy(path)
  expect(await cli.run('users list -q --database academy.db')).toMatchObject({ code: 0, stderr: '' })
  expect(versionOf(path)).toBe(schemaVersion)
})

test('Ctrl-C ends an upgrade at once, and the next resumes', { tags: ['slow'] }, async ({ cli }) => {
  const path = join(cli.cwd, 'academy.db')
  makeLargeOldAcademy(path)
  const writer = lockForWriting(path)
  const interruption = new AbortController()
  const { code } = await cli.run('users list -q --database academy.db', {
    signal: interruption.signal,
    onStderr: (printed) => {
      if (printed.includes('step 1 of 7')) interruption.abort(new InterruptedError('SIGINT'))
    },
  })
  expect(code).toBe(130)
  writer.close()
  expect(versionOf(path)).toBe(oldVersion)
  expect(await cli.run('users list -q --database academy.db')).toMatchObject({ code: 0 })
  expect(versionOf(path)).toBe(schemaVersion)
})

test('a copy of a large old academy upgrades it; a dry run does not', { tags: ['slow'] }, async ({ cli }) => {
  makeLargeOldAcademy(join(cli.cwd, 'academy.db'))
  const words = 'server copy --from academy.db --to copy.db'
  expect((await cli.run(`${words} --dry-run`)).stderr).not.toContain('Upgrad')
  const ran = await cli.run(words)
  expect(ran.code).toBe(0)
  expect(ran.stderr).toContain('note: Upgrade: step 1 of 7')
})
