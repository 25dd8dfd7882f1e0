import type { ChildProcess } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testCli } from '../../../helpers/cli.ts'
import { type Ended, runLearnctl } from '../../../helpers/process.ts'
import { randomRuns } from '../../../helpers/random.ts'

const numRuns = randomRuns(1, 1)
const testTimeoutMs = 180_000 + numRuns * 20_000
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

/** Kills a process as soon as the academy has this many courses. */
const killAt = (place: Place, courses: number) => async (child: ChildProcess) => {
  while (child.exitCode === null && child.signalCode === null && place.count() < courses) await setTimeout(1)
  child.kill('SIGKILL')
}

/** Returns all courses by title, without ids and times. */
async function coursesOf({ start }: Place): Promise<unknown> {
  const { stdout } = await start([
    'courses',
    'list',
    '--all',
    '-o',
    'csv',
    '--columns',
    'externalId,title,version',
    '--sort',
    'title',
  ])
  return stdout
}

const importing = ['courses', 'import', 'c.csv']
const summary = `Imported ${rowCount} rows of ${rowCount} from c.csv: 320 created, 40 updated, 40 unchanged\n`

describe('an import whose process is killed', () => {
  test(
    'at any moments, and run again each time, has the outcome of one that was not',
    async () => {
      const made = await template()
      const calm = placeFrom(made)
      expect((await calm.start(importing)).stderr).toBe(summary)
      const expected = await coursesOf(calm)
      const moments = fc.array(fc.integer({ min: 80, max: rowCount }), { minLength: 1, maxLength: 3 })
      let kills = 0
      await fc.assert(
        fc.asyncProperty(moments, async (lines) => {
          const place = placeFrom(made)
          for (const moment of lines.toSorted((one, other) => one - other)) {
            const { signal } = await place.start(importing, killAt(place, moment))
            kills += signal === 'SIGKILL' ? 1 : 0
            if (signal === null) break
          }
          const last = await place.start(importing)
          expect(last.code, last.stderr).toBe(0)
          expect(await coursesOf(place)).toBe(expected)
          rmSync(place.directory, { recursive: true, force: true })
        }),
        { numRuns, endOnFailure: true },
      )
      if (numRuns > 1) process.stdout.write(`${kills} kills in ${numRuns} imports\n`)
    },
    testTimeoutMs,
  )

  test('by Ctrl-C says how far it came, and exits with 130', async () => {
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
})
