import { readdirSync } from 'node:fs'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type MaskedRow, PeopleRows, type PeopleTable } from '../../../src/cli/export/privacy-step.ts'
import { coarsened, Pseudonyms } from '../../../src/cli/pseudonyms/pseudonyms.ts'
import { freshDirectory } from '../../helpers/fresh-directory.ts'

const pseudonyms = new Pseudonyms(Buffer.alloc(32, 'a key of tests, which hides nothing'))
const how = { pseudonyms, times: null, k: 3, suppressSmall: false }
const enrollments = { name: 'enrollments', columns: ['courseId', 'status'] }
const progress = { name: 'progress', columns: ['courseId'] }

function rowOf(table: PeopleTable, person: string, seen: readonly unknown[], row = {}): MaskedRow {
  return { table, person, seen, row }
}

test('rows come out in the order of pseudonyms, those of a person in theirs, and leave no file', () => {
  const { path, remove } = freshDirectory()
  vi.stubEnv('TMPDIR', path)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    remove()
  })
  const rows = new PeopleRows(how, [progress])
  const added = Array.from({ length: 5_000 }, (_, index) => {
    const text = `Zoë\n\0${'x'.repeat(1000)}`
    return rowOf(progress, pseudonyms.of('user', String(index % 2_000)), [], { text, index })
  })
  for (const row of added) rows.add(row)
  // SQLite has removed the name of its file already, or writes it later.
  const sorted = [...rows.batches()].flat()
  const expected = added.toSorted((one, other) =>
    one.person < other.person ? -1 : one.person > other.person ? 1 : 0,
  )
  expect(sorted).toEqual(expected.map(({ row }) => row))
  rows.close()
  expect(readdirSync(path)).toEqual([])
})

test('groups are counted by people, not by rows, for each table', () => {
  const rows = new PeopleRows(how, [enrollments, progress])
  for (let index = 0; index < 900; index += 1) {
    // 250 groups of two people, whose rows are far apart.
    rows.add(rowOf(enrollments, `person ${index % 500}`, [`course ${index % 250}`, 'active']))
    // The same values in another table are another group: 300 people.
    rows.add(rowOf(progress, `person ${index % 300}`, ['course 1']))
  }
  for (let index = 0; index < 100; index += 1) rows.add(rowOf(progress, 'the same', ['course 2']))
  expect([...rows.batches()].flat()).toHaveLength(1900)
  expect(rows.groupNotes()).toEqual([
    'enrollments: 250 groups of fewer than 3 people with the same courseId, status (the smallest has 2): they may be recognised by these',
    'progress: 1 group of fewer than 3 people with the same courseId (the smallest has 1): they may be recognised by these',
  ])
  rows.close()
})

test('a pseudonym is the HMAC of kind and id that other programs calculate', () => {
  // python3: base64.b32encode(hmac.digest(key, b'learnctl pseudonym 1\0user\0usr_1', 'sha256')[:13]).lower()[:20]
  expect(pseudonyms.of('user', 'usr_1')).toBe('rvaljdjaxgsw5q6ozlhi')
  expect(pseudonyms.of('grade', 'usr_1')).not.toBe(pseudonyms.of('user', 'usr_1'))
})

test('a time is reduced in UTC, a week to its Monday, and text that is no time to nothing', () => {
  expect(coarsened('2026-03-01T23:30:00+00:00', 'week')).toBe('2026-02-23')
  expect(coarsened('2026-03-01T23:30:00-02:00', 'day')).toBe('2026-03-02')
  expect(coarsened('2026-02-23', 'week')).toBe('2026-02-23')
  expect(coarsened('2024-02-29T12:00:00Z', 'month')).toBe('2024-02-01')
  expect(coarsened('Zoë Müller', 'day')).toBeNull()
})
