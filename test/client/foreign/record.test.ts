import { expect, test } from 'vitest'
import { createClient } from '../../../src/client/client.ts'
import { idOf, memberOf, recordOf } from '../../../src/client/foreign/record.ts'
import { calls } from '../../../src/contract/calls.ts'
import type { Transport } from '../../../src/contract/http.ts'

const { list } = calls.courses
const profile = {
  firstName: 'Ada',
  learningPreferences: { pace: 'slow', accessibility: { screenReader: true } },
}

test.for([
  [
    { Id: 3, ExternalId: 'A', Title: 'Alps', CreatedAt: '2026-01-01' },
    { id: 3, externalId: 'A', title: 'Alps', createdAt: '2026-01-01' },
  ],
  [
    { _id: { $oid: '65f0' }, external_id: 'A', name: 'Alps' },
    { id: '65f0', externalId: 'A', title: 'Alps' },
  ],
  [
    { id: '3', type: 'courses', attributes: { 'external-id': 'A', title: 'Alps' } },
    { id: '3', externalId: 'A', title: 'Alps' },
  ],
  [
    { course_id: 3, passing_score: 60 },
    { id: 3, assessmentCriteria: { passingScore: 60 } },
  ],
  [
    { assessment_criteria: { weights: { Exam: 60 }, passing_score: 50 } },
    { assessmentCriteria: { weights: { Exam: 60 }, passingScore: 50 } },
  ],
  [{ Modules: [{ Id: 1, Title: 'One' }] }, { modules: [{ id: 1, title: 'One' }] }],
] as const)('a course under other names has those of the API beside them: %j', ([thing, ours]) => {
  const before = JSON.stringify(thing)
  expect(recordOf(thing, list)).toEqual({ ...thing, ...ours })
  expect(JSON.stringify(thing)).toBe(before)
})

test('a record that has the names of the API already is the same object', () => {
  const course = {
    id: 'c',
    externalId: null,
    title: 'Sea',
    modules: [{ id: 'm', title: 'One', description: '' }],
    tags: [],
  }
  expect(recordOf(course, list)).toBe(course)
  const user = { id: 'u', email: 'a@b.example', profile }
  expect(recordOf(user, calls.users.list)).toBe(user)
})

test('fields of objects in objects are found, too', () => {
  const { first_name, learning_preferences } = {
    first_name: 'Ada',
    learning_preferences: { pace: 'slow', accessibility: { screen_reader: true } },
  }
  expect(recordOf({ profile: { first_name, learning_preferences } }, calls.users.list)).toEqual({ profile })
})

test('the library has the names of the API, whatever the platform calls its fields', async () => {
  const transport: Transport = async () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ results: [{ _id: '5', name: 'Alps', passing_score: 60 }] }),
  })
  const client = createClient({ baseUrl: 'https://school.example', apiKey: 'lpk_1', transport })
  const { data } = await client.courses.list()
  expect(data).toMatchObject([{ id: '5', title: 'Alps', assessmentCriteria: { passingScore: 60 } }])
  await client.close()
})

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
