import { expect, test } from 'vitest'
import { createClient } from '../../../src/client/client.ts'
import { recordOf } from '../../../src/client/foreign/record.ts'
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
