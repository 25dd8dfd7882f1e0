import { expect, test } from 'vitest'
import { indexOf, keyIn, knownIds } from '../../../src/cli/records/identity.ts'

test('records are told apart by their dataset where a platform numbers each kind on its own', () => {
  const ids = knownIds()
  ids.add('users', '1', 'ext:ada')
  ids.add('courses', '1', 'ext:sea')
  ids.add('lessons', '7', 'ext:sea')
  const record = { courseId: 'ext:sea', userId: 'ext:ada' }
  const entry = { dataset: 'enrollments', record, key: keyIn('enrollments', record) ?? '' } as const
  expect(indexOf([entry], ids).of({ id: '1', courseId: '1', userId: '1', role: 'learner' })).toBe(entry)
  expect(indexOf([entry], ids).of({ id: '2', courseId: '2', userId: '1' })).toBe(undefined)
  expect(ids.idOf('courses', 'ext:sea')).toBe('1')
})
