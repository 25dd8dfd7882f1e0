import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { test as withCli } from '../../helpers/cli.ts'
import { randomRuns } from '../../helpers/random.ts'
import { anyWrite, initialWrites, sendWrite } from '../../server/any-write.ts'

/** The program, signed in to an academy. */
const test = withCli.extend('school', async ({ remote, admin }) => {
  await remote.run('auth login --with-key --url https://school.example', { stdin: admin.key })
  return remote
})

interface Changed {
  readonly learnerId: string | null
  readonly courseId: string | null
  readonly changeState: 'current' | 'removed'
}

const rowsIn = (text: string): Changed[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** Applies changed rows to a copy, as docs/analytics.md says. */
function follow(copy: Map<string, unknown>, rows: readonly Changed[]): void {
  for (const { changeState, ...row } of rows) {
    const matches = (id: string) => {
      const [learnerId, courseId] = id.split(' ')
      return (row.learnerId ?? learnerId) === learnerId && (row.courseId ?? courseId) === courseId
    }
    if (changeState === 'current') copy.set(`${row.learnerId} ${row.courseId}`, row)
    else for (const id of [...copy.keys()].filter(matches)) copy.delete(id)
  }
}

test('a copy that takes each export has all rows', { tags: ['slow'] }, async ({ school, admin, academy }) => {
  for (const one of initialWrites) await sendWrite(academy, admin, one)
  const copy = new Map<string, unknown>()
  const next = async () => {
    const { code, stdout, stderr } = await school.run('analytics export -o jsonl --since-last weekly')
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Exported \d+ rows?\n$/)])
    follow(copy, rowsIn(stdout))
    return rowsIn(stdout)
  }
  await next()
  await fc.assert(
    fc.asyncProperty(fc.array(anyWrite, { minLength: 5, maxLength: 10 }), async (writes) => {
      for (const one of writes) await sendWrite(academy, admin, one)
      await next()
      const whole = rowsIn((await school.run('analytics export -o jsonl')).stdout)
      // A new passing score is a change of the course, not of its learners.
      const plain = (row: object) => ({ ...row, passed: undefined, email: undefined, courseTitle: undefined })
      const byId = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)
      expect([...copy.values()].map((row) => plain(row as object)).sort(byId)).toEqual(
        whole.map(plain).sort(byId),
      )
    }),
    { numRuns: randomRuns(2, 8), endOnFailure: true },
  )
  expect(await next()).toEqual([])
})

test('CSV ends with changeState and has the ids of removed rows', async ({ school, admin, learner }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Sea', status: 'published' })
  const { body: enrollment } = await admin.post('/v1/enrollments', {
    courseId: course.id,
    userId: learner.id,
  })
  const first = await school.run('analytics export --since-last state.json --file first.csv')
  expect(first.stderr).toBe('Exported 1 row to first.csv\n')
  const text = readFileSync(join(school.cwd, 'first.csv'), 'utf8')
  expect(text).toMatch(/^learnerId,email,.*,courseExternalId,changeState\r\n\S+,current\r\n$/)
  expect((await school.run('analytics export --since-last state.json')).stdout).toMatch(/^learnerId,.*\r\n$/)
  await admin.delete(`/v1/enrollments/${enrollment.id}`)
  const { stdout } = await school.run('analytics export --since-last state.json --columns learnerId,courseId')
  expect(stdout).toBe(`learnerId,courseId,changeState\r\n${learner.id},${course.id},removed\r\n`)
})

test('a failed export leaves the state for the next one', async ({ school, admin, learner, academy }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Sea', status: 'published' })
  await school.run('analytics export --since-last weekly')
  await admin.post('/v1/enrollments', { courseId: course.id, userId: learner.id })
  await academy.database.run(sql`alter table progress rename to hidden_progress`)
  const failed = await school.run('analytics export --since-last weekly --file week.csv --retries 0')
  expect([failed.code, existsSync(join(school.cwd, 'week.csv'))]).toEqual([1, false])
  await academy.database.run(sql`alter table hidden_progress rename to progress`)
  expect((await school.run('analytics export --since-last weekly --file week.csv')).stderr).toBe(
    'Exported 1 row to week.csv\n',
  )
})

test('a state is of one platform and filter, and ends in time', async ({ school, admin, academy }) => {
  await admin.post('/v1/courses', { title: 'Sea', externalId: 'sea' })
  await school.run('analytics export --since-last sea.json --course ext:sea')
  const other = await school.run('analytics export --since-last sea.json')
  expect(other.code).toBe(2)
  expect(other.stderr).toContain(
    'is the state of an export with other courses\n  It was ext:sea, and is all now\n',
  )
  const filtered = await school.run('analytics export --since-last sea.json --status completed')
  expect([filtered.code, filtered.stderr]).toEqual([
    2,
    expect.stringContaining('--since-last and --status cannot be used together'),
  ])
  await academy.database.run(sql`update row_changes set item = item + 1`)
  const gone = await school.run('analytics export --since-last sea.json --course ext:sea')
  expect([gone.code, gone.stdout]).toEqual([6, ''])
  expect(gone.stderr).toContain('What has changed since the last export is not known')
  expect(gone.stderr).toMatch(/hint: Remove \S+sea\.json to export all rows again\n$/)
  expect((await school.run('analytics export --since-last "a b"')).code).toBe(2)
})
