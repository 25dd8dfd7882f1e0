import { expect, test } from 'vitest'
import { idOf, memberOf } from '../../../src/client/foreign/record.ts'

test.each([
  ['its own name', 'createdAt', { createdAt: 1, created_at: 2 }],
  ['another case', 'createdAt', { created_at: 1 }],
  ['another name', 'createdAt', { created: 1 }],
  ['a dotted path', 'profile.firstName', { profile: { first_name: 1 } }],
  ['beside the object it belongs to', 'profile.firstName', { first_name: 1 }],
  ['the thing it refers to', 'courseId', { course: { _id: 1 } }],
  ['the name of that thing', 'courseId', { course: 1 }],
  ['another word for that thing', 'learnerId', { student: { id: 1 } }],
  ['attributes', 'title', { type: 'courses', id: '5', attributes: { title: 1 } }],
])('a field is found under %s', (_, field, thing) => {
  expect(memberOf(thing, field, 'course')).toBe(1)
})

test.each([[{ course: 'Marine biology' }], [{ course: 'Module 101' }], [{ course: '' }]])(
  'the name of a course is not taken for its id in %j',
  (thing) => {
    expect(memberOf(thing, 'courseId')).toBeUndefined()
  },
)

test('a field that is there, though it is null, is not looked for elsewhere', () => {
  expect(memberOf({ createdAt: null, created: 1 }, 'createdAt')).toBeNull()
})

test.each([[undefined], [null], ['text'], [[]], [{ __proto__: { title: 'x' } }], [{ tag: 'x' }]])(
  'there is no field in %j',
  (thing) => {
    expect(memberOf(thing, 'title')).toBeUndefined()
  },
)

test.each([
  [{ id: 5, _id: 6 }],
  [{ _id: '5' }],
  [{ _id: { $oid: '5' } }],
  [{ uuid: '5' }],
  [{ courseId: 5, title: 'x' }],
  [{ course_id: '5' }],
  [{ ID: 5 }],
  [{ message: 'created', course: { id: 5 } }],
  [{ data: { course_id: 5 } }],
])('the id of a course in %j is 5', (thing) => {
  expect(idOf(thing, 'course')).toBe('5')
})

test.each([[{}], [null], [{ id: '' }], [{ id: {} }], [{ user_id: 5 }], [{ lessonId: 5 }]])(
  'a course has no id in %j',
  (thing) => {
    expect(idOf(thing, 'course')).toBeNull()
  },
)
