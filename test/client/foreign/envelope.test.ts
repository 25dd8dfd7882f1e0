import { expect, test } from 'vitest'
import { thingIn } from '../../../src/client/foreign/body.ts'
import { failureIn } from '../../../src/client/foreign/refusal.ts'

const sea = { id: 5, title: 'Sea' }

test.each([
  [{ data: sea }],
  [{ course: sea }],
  [{ created: sea }],
  [{ data: { course: sea } }],
  [{ success: true, message: 'Created', data: sea }],
  [{ status: 'ok', error: null, course: sea }],
  [[sea]],
  [{ data: [sea] }],
])('the thing in %j is what is answered', (body) => {
  expect(thingIn(body, 'course')).toEqual(sea)
})

test.each([
  [sea],
  [null],
  [[sea, sea]],
  [{ id: 5, course: sea }],
  [{ status: 'active', settings: { theme: 'dark' } }],
  [{ course: sea, version: 3 }],
  [{ data: 'text' }],
])('%j is a thing itself', (body) => {
  expect(thingIn(body, 'course')).toEqual(body)
})

test('envelopes without end are left alone', () => {
  const deep = { a: { a: { a: { a: { a: 1 } } } } }
  expect(thingIn(deep, 'course')).toEqual({ a: { a: 1 } })
})

test.each([
  [{ success: false }, null],
  [{ ok: false, id: 7 }, null],
  [{ success: 'false' }, null],
  [{ id: null, error: 'Not allowed' }, null],
  [{ exception: 'moodle_exception', errorcode: 'invalidtoken', message: 'Invalid token' }, null],
  [{ error: 'Not allowed' }, null],
  [{ error: { code: 404, message: 'Not found' } }, 404],
  [{ errors: [{ title: 'No' }] }, null],
  [{ errors: { title: ['is required'] } }, null],
  [{ data: null, errors: ['x'] }, null],
  [{ code: 403, message: 'No' }, 403],
  [{ statusCode: '503', message: 'Later' }, 503],
  [{ status: 'error', message: 'No' }, null],
])('%j with a status of success is a failure of status %j', (body, status) => {
  expect(failureIn(body)).toEqual({ said: status })
})

test.each([
  ...[null, [], [{ error: 'x' }], {}, sea, { data: sea, error: null, errors: [] }, { success: true }],
  { courseId: 5, learnerId: 6, status: 'failed', completionPercentage: 100 },
  { id: 5, error: 'timed out' },
  { title: 'Not found', code: 404, credits: 3 },
  { imported: 3, errors: 0 },
  { id: null, title: 'x', error: 'none', errorcode: '0' },
])('%j is no failure', (body) => {
  expect(failureIn(body)).toBeNull()
})
