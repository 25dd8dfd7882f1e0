import { expect } from 'vitest'
import { type Person, test } from '../../helpers/academy.ts'

const path = '/v1/analytics/learners'

/** A course, and one learner for each letter with progress at a time. */
async function learnersAt(admin: Person, times: Readonly<Record<string, string | null>>): Promise<string> {
  const { id } = (await admin.post('/v1/courses', { title: 'Logic', externalId: 'L1' })).body
  for (const [letter, lastAccessed] of Object.entries(times)) {
    const user = (await admin.post('/v1/users', { email: `${letter}@b.example` })).body
    if (lastAccessed === null) await admin.post('/v1/enrollments', { courseId: id, userId: user.id })
    else {
      const record = { courseId: id, completionPercentage: 50, lastAccessed }
      expect((await admin.put(`/v1/learners/${user.id}/progress`, record)).status).toBe(200)
    }
  }
  return id
}

const letters = ({ body }: { body: { data: { email: string }[] } }) =>
  body.data.map(({ email }) => email[0]).join('')

const times = {
  a: '2026-01-30T23:59:59.999Z',
  b: '2026-01-31T00:00:00.000Z',
  c: '2026-01-31T23:59:59.999Z',
  d: '2026-02-01T00:00:00.000Z',
  n: null,
}

test.for([
  ['', 'abcdn', null, null],
  ['start_date=2026-01-31', 'bcd', '2026-01-31T00:00:00.000Z', null],
  ['end_date=2026-01-31', 'abc', null, '2026-02-01T00:00:00.000Z'],
  ['start_date=2026-01-31&end_date=2026-01-31', 'bc', '2026-01-31T00:00:00.000Z', '2026-02-01T00:00:00.000Z'],
  [
    'start_date=2026-01-31T00:00:00Z&end_date=2026-01-31T23:59:59.999Z',
    'b',
    '2026-01-31T00:00:00.000Z',
    '2026-01-31T23:59:59.999Z',
  ],
  [
    'start_date=2026-01-31T01:00:00%2B01:00&end_date=2026-02-01T00:00:00Z',
    'bc',
    '2026-01-31T00:00:00.000Z',
    '2026-02-01T00:00:00.000Z',
  ],
  [
    'start_date=2026-01-31T12:00:00Z&end_date=2026-01-31',
    'c',
    '2026-01-31T12:00:00.000Z',
    '2026-02-01T00:00:00.000Z',
  ],
  [
    'start_date=2026-01-31T00:00:00Z&end_date=2026-01-31T00:00:00Z',
    '',
    '2026-01-31T00:00:00.000Z',
    '2026-01-31T00:00:00.000Z',
  ],
  [
    'start_date=0001-01-01&end_date=9999-12-31',
    'abcd',
    '0001-01-01T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
  ],
  ['start_date=2026-01-31&include_not_started=true', 'bcdn', '2026-01-31T00:00:00.000Z', null],
] as const)('the period %j has the learners %s', async ([query, expected, from, to], { admin }) => {
  await learnersAt(admin, times)
  const answer = await admin.get(`${path}?${query}`)
  expect(letters(answer)).toBe(expected)
  expect(answer.body.period).toEqual({ start: from, end: to })
  expect(answer.body.summary.enrollments).toBe(expected.length)
})

test.for([
  ['start_date=2026-02-30', 'start_date', 'invalid_time'],
  ['end_date=2026-1-31', 'end_date', 'invalid_time'],
  ['end_date=31.01.2026', 'end_date', 'invalid_time'],
  ['start_date=2026-01-31T12:00:00', 'start_date', 'invalid_time'],
  ['start_date=', 'start_date', 'invalid_time'],
  ['start_date=2026-02-01&end_date=2026-01-31', 'start_date', 'out_of_order'],
  ['start_date=2026-02-01T00:00:00Z&end_date=2026-01-31', 'start_date', 'out_of_order'],
  ['start_date=2026-01-31T12:00:00Z&end_date=2026-01-31T11:59:59Z', 'start_date', 'out_of_order'],
  ['format=xml', 'format', 'invalid_choice'],
  ['format=CSV', 'format', 'invalid_choice'],
  ['status=done', 'status', 'invalid_choice'],
  ['course_id=', 'course_id', 'invalid_reference'],
  ['course_id=crs_1,', 'course_id', 'invalid_reference'],
  [`learner_id=${'a'.repeat(513)}`, 'learner_id', 'invalid_reference'],
  [`learner_id=${Array(101).fill('usr_1').join(',')}`, 'learner_id', 'too_long'],
  ['bom=yes', 'bom', 'invalid_choice'],
])('%s is 400', async ([query, parameter, code], { admin }) => {
  expect(await admin.get(`${path}?${query}`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_parameter', errors: [{ parameter, code }] },
  })
})
