import { join } from 'node:path'
import { Writable } from 'node:stream'
import { expect } from 'vitest'
import { upgradeNotes } from '../../../src/cli/session/upgrade-notes.ts'
import type { Io } from '../../../src/cli/terminal/io.ts'
import { openAcademyFile } from '../../../src/server/academy.ts'
import { rebuildCounters } from '../../../src/server/counters/recount.ts'
import { idMaker } from '../../../src/server/database/id.ts'
import { migrate, migrations } from '../../../src/server/database/migrations.ts'
import { makeFile } from '../../../src/server/database/new-file.ts'
import { freshDirectory, stoppedClock } from '../../helpers/academy.ts'
import { test } from '../../helpers/cli.ts'

const { now } = stoppedClock()

test('who opens a large academy of an earlier version is told how long that takes, and how far it is', async ({
  onTestFinished,
}) => {
  const { path: directory, remove } = freshDirectory()
  onTestFinished(remove)
  const path = join(directory, 'academy.db')
  const context = {
    now: now().toISOString(),
    newId: idMaker(now),
    newSecret: () => 'secret',
    rebuildCounters,
  }
  await makeFile(path, (database, draft) => migrate(database, draft, context, migrations.length - 2))
  const lines: string[] = []
  const stderr = new Writable({
    decodeStrings: false,
    write(text, _, done) {
      lines.push(String(text))
      done()
    },
  })
  const notes = upgradeNotes({ stderr: stderr as Io['stderr'] }, path, 1.5 * 1024)
  await (await openAcademyFile(path, now, undefined, notes)).database.close()
  expect(lines.join('')).toBe(
    `note: Upgrading ${path} for this version of learnctl; this takes about 2 minutes, and can be interrupted
note: Upgrade: step 1 of 2
note: Upgrade: step 2 of 2
`,
  )
  // One that is up to date, and a new one, say nothing.
  await (await openAcademyFile(path, now, undefined, notes)).database.close()
  await (await openAcademyFile(join(directory, 'new.db'), now, undefined, notes)).database.close()
  expect(lines).toHaveLength(3)
})

test('a small academy is brought up to date without a word', async ({ cli }) => {
  const path = join(cli.cwd, 'academy.db')
  const context = {
    now: now().toISOString(),
    newId: idMaker(now),
    newSecret: () => 'secret',
    rebuildCounters,
  }
  await makeFile(path, (database, draft) => migrate(database, draft, context, 5))
  expect(await cli.run('users list -q --database academy.db')).toMatchObject({ code: 0, stderr: '' })
})
