import { readdirSync } from 'node:fs'
import { expect, onTestFinished, test, vi } from 'vitest'
import { BucketSpool } from '../../../src/cli/pseudonyms/bucket-spool.ts'
import { coarsened, Pseudonyms } from '../../../src/cli/pseudonyms/pseudonyms.ts'
import { SmallGroups } from '../../../src/cli/pseudonyms/small-groups.ts'
import { freshDirectory } from '../../helpers/fresh-directory.ts'

const pseudonyms = new Pseudonyms(Buffer.alloc(32, 'a key of tests, which hides nothing'))

/** Sets a directory of this test for temporary files, as other tests of this process spool at the same time; lists it. */
function ownFolders(): () => string[] {
  const { path, remove } = freshDirectory()
  vi.stubEnv('TMPDIR', path)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    remove()
  })
  return () => readdirSync(path)
}

test('more entries than memory holds come out in the order of keys, equal ones in theirs, and leave no file', {
  tags: ['slow'],
}, () => {
  const folders = ownFolders()
  const spool = new BucketSpool()
  const added = Array.from({ length: 50_000 }, (_, index) => ({
    key: pseudonyms.of('user', String(index % 20_000)),
    text: JSON.stringify(['Zoë\n', index]),
  }))
  for (const { key, text } of added) spool.add(key, text)
  expect(folders()).toEqual([expect.stringMatching(/^learnctl-/)])
  const sorted = [...spool.sorted()].flat()
  const expected = added.toSorted((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
  expect(sorted).toEqual(expected)
  spool.remove()
  expect(folders()).toEqual([])
})

test('groups are counted by people, not by rows, however many there are, for each table', {
  tags: ['slow'],
}, () => {
  const enrollments = { name: 'enrollments', columns: ['courseId', 'status'] }
  const progress = { name: 'progress', columns: ['courseId'] }
  const groups = new SmallGroups(3, [enrollments, progress])
  for (let index = 0; index < 90_000; index += 1) {
    // 25,000 groups of two people, whose rows are far apart.
    groups.add(enrollments, `person ${index % 50_000}`, [`course ${index % 25_000}`, 'active'])
    // The same values in another table are another group: 30,000 people.
    groups.add(progress, `person ${index % 30_000}`, ['course 1'])
  }
  groups.add(progress, 'person 1', ['course 2'])
  expect(groups.notes()).toEqual([
    'enrollments: 25,000 groups of fewer than 3 people with the same courseId, status (the smallest has 2): they may be recognised by these',
    'progress: 1 group of fewer than 3 people with the same courseId (the smallest has 1): they may be recognised by these',
  ])
  groups.remove()
  const only = { name: null, columns: ['courseId'] }
  const alone = new SmallGroups(3, [only])
  for (let index = 0; index < 100; index += 1) alone.add(only, 'the same', ['course'])
  expect(alone.notes()).toEqual([expect.stringMatching(/^1 group .*smallest has 1/)])
})

test('groups with people enough take no space, however many rows they have', { tags: ['slow'] }, () => {
  const only = { name: null, columns: ['courseId'] }
  const groups = new SmallGroups(5, [only])
  const folders = ownFolders()
  for (let index = 0; index < 100_000; index += 1) groups.add(only, `person ${index}`, [index % 100])
  expect(folders()).toEqual([])
  expect(groups.notes()).toEqual([])
  groups.remove()
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
