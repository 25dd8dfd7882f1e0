import type { ChildProcess } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { testCli } from '../../../helpers/cli.ts'
import { type Ended, runLearnctl } from '../../../helpers/process.ts'

const rowCount = 400

/** A directory with an academy that has some of the records, and a file to import. */
interface Place {
  readonly directory: string
  start(words: readonly string[], watch?: (child: ChildProcess) => void): Promise<Ended>
  /** Number of courses in the academy. */
  count(): number
}

function fresh(): string {
  const directory = mkdtempSync(join(tmpdir(), 'learnctl-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

function placeIn(directory: string): Place {
  const env = { HOME: directory, LEARNCTL_DATABASE: join(directory, 'academy.db'), CI: 'true' }
  return {
    directory,
    start: (words, watch) => runLearnctl(words, { cwd: directory, env, watch }),
    count() {
      const database = new DatabaseSync(join(directory, 'academy.db'), { readOnly: true })
      try {
        return Number(database.prepare('select count(*) as count from courses').get()?.['count'])
      } catch {
        // It is locked.
        return 0
      } finally {
        database.close()
      }
    },
  }
}

const courses = (word: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, row) => `C${from + row},${word} ${from + row}\n`).join('')

/** Template of an academy that has some courses already. */
async function template(): Promise<string> {
  const directory = fresh()
  const cli = testCli({ env: { LEARNCTL_DATABASE: join(directory, 'academy.db') } })
  const made = await cli.run('courses import -', {
    stdin: `externalId,title\n${courses('Course', 0, 40)}${courses('Old', 40, 80)}`,
  })
  expect(made, made.stderr).toMatchObject({ code: 0 })
  cli.remove()
  writeFileSync(join(directory, 'c.csv'), `externalId,title\n${courses('Course', 0, rowCount)}`)
  return directory
}

function placeFrom(made: string): Place {
  const directory = fresh()
  for (const name of ['academy.db', 'c.csv']) copyFileSync(join(made, name), join(directory, name))
  return placeIn(directory)
}

const importing = ['courses', 'import', 'c.csv']

test('an import that Ctrl-C stops says how far it came, and exits with 130', async () => {
  const place = placeFrom(await template())
  const stopped = await place.start(importing, async (child) => {
    while (place.count() < 100) await setTimeout(1)
    child.kill('SIGINT')
  })
  expect(stopped.code).toBe(130)
  expect(stopped.stderr).toMatch(
    /^note: Stopped after \d+ of 400 rows; run the same command again, .*\nerror: Interrupted\n$/,
  )
  expect(await place.start(importing)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Imported 400'),
  })
})
