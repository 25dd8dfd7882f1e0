import { describe, expect } from 'vitest'
import type { HttpResponse } from '../../src/contract/http.ts'
import { expressPlatform } from '../helpers/foreign-platforms/express.ts'
import { type ForeignPlatform, json } from '../helpers/foreign-platforms/platform.ts'
import { test } from '../helpers/foreign-platforms/run.ts'

/** A platform that gives this response to every write. */
function answering(answer: HttpResponse): ForeignPlatform {
  const platform = expressPlatform()
  platform.intercept(({ method }) => (method === 'GET' ? undefined : answer))
  return platform
}

/** Refusals that come with the status of a success. */
const refusals: readonly unknown[] = [
  { success: false, message: 'e-mail exists' },
  { ok: false, error: 'already_exists' },
  { error: 'e-mail exists' },
  { error: { code: 'E42', message: 'e-mail exists' } },
  { errors: ['e-mail exists'] },
  { errors: [{ field: 'email', message: 'The address is taken' }] },
  { code: 1002, msg: 'email exists', data: null },
  { code: 1002, msg: 'email exists' },
  { code: 1002, msg: 'email exists', data: {} },
  { code: 'E1042', message: 'Email exists' },
  { code: 'DUPLICATE', message: 'Already created' },
  { errcode: 40013, errmsg: 'invalid value' },
  { retcode: -1, retmsg: 'failed' },
  { ResultCode: '99', ResultMessage: 'Not saved' },
  { status: 'fail', data: { title: 'A title is required', email: 'An e-mail is required' } },
  { status: 'error', message: 'e-mail exists' },
  { status: 0, message: 'Email exists' },
  { status: 0, msg: 'Course could not be created' },
  { status: false, message: 'Not allowed' },
  { status: 422, message: 'Unprocessable' },
  { statusCode: 409, data: { message: 'Conflict' } },
  { result: 'failure' },
  { result: 'error', reason: 'duplicate' },
  { Result: 'Error', ErrorText: 'The address was created before' },
  { isError: true, text: 'Duplicate' },
  { hasErrors: true },
  { hasErrors: true, model: { title: 'Sea', email: 'a@b.example' } },
  { failed: true },
  { failed: 1, succeeded: 0 },
  { valid: false },
  [{ errorCode: 'DUPLICATE_VALUE', message: 'Duplicate value found' }],
  [
    { message: 'duplicate', errorCode: 'A' },
    { message: 'again', errorCode: 'B' },
  ],
  'error: e-mail exists',
  'Not updated',
  { exception: 'moodle_exception', errorcode: 'invalidparameter', message: 'Invalid' },
  { fault: { faultstring: 'Duplicate' } },
  { message: 'User could not be saved' },
  { message: 'Email already exists' },
  { id: 'req_1', type: 'invalid_request_error', message: 'The address is already taken' },
  { version: '1.0', status: 'error', message: 'duplicate' },
  { jsonrpc: '2.0', error: { code: -32000, message: 'Duplicate' }, id: null },
  { results: [{ status: 422, message: 'The address is taken' }] },
  { d: { ErrorMessage: 'duplicate' } },
  {},
  [],
  null,
  { data: null },
  { page: 1 },
]

const writes = [
  'courses create --title Sea',
  'courses update 7 --title Sea',
  'courses publish 7',
  'courses delete 7 --yes',
  'lessons create --course 3 --title Tides',
  'users create --email a@b.example',
  'progress set 7 --course 3 --completion 40',
]

describe.each(writes)('a write that is refused with 200: %s', (line) => {
  test.for(refusals)('%j', async (body, { run }) => {
    const { code, stdout, stderr } = await run(answering(json(200, body)), line)
    expect({ code: code === 0, stdout }, stderr).toEqual({ code: false, stdout: '' })
    expect(stderr).toMatch(/^error: /)
  })
})

const imports = [
  ['courses import - --on-exists fail', 'title\nSea\n'],
  ['users import - --on-exists fail', 'email\na@b.example\n'],
  ['progress import -', 'learnerId,courseId,completionPercentage\n7,3,40\n'],
] as const

describe.each(imports)('a row that is refused with 200 or only accepted: %s', (line, stdin) => {
  test.for([
    ...refusals.map((body) => [200, body] as const),
    [202, null],
    [202, { id: 'job-500', status: 'queued' }],
    [202, { message: 'Created' }],
    [207, { results: [{ status: 422, message: 'The title is taken' }] }],
    [207, [{ index: 0, status: 422, error: 'Invalid' }]],
    [207, { status: 'ok', items: [{ id: 'row-1', status: 422, detail: 'Invalid' }] }],
  ] as const)('%j', async ([status, body], { run }) => {
    const { code, stdout, stderr } = await run(answering(json(status, body)), line, { stdin })
    expect({ code, stdout }, stderr).toEqual({ code: 8, stdout: '' })
    expect(stderr).toContain('Imported 0 rows of 1 from standard input: 1 failed')
  })
})

describe.each(writes)('a write that is only accepted: %s', (line) => {
  test.for([
    { id: 'job-500' },
    { id: 'job-500', status: 'queued', title: 'Sea' },
    { jobId: 'job-500', status: 'failed' },
    { message: 'Accepted' },
    { message: 'Created' },
    { success: true },
    null,
  ])('%j', async (body, { run }) => {
    const headers = { location: '/v1/courses/job-500' }
    const { code, stdout, stderr } = await run(answering(json(202, body, headers)), line)
    expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error: express\.example did not confirm \w+ \/v1\/\S+; it returned 202 with/)
    expect(stderr).toMatch(/\n {2}It may have succeeded\n {2}hint: Check /)
  })
})

test('a write that a platform does not confirm ends with its words, and how to check', async ({ run }) => {
  const platform = answering(json(200, { code: 1002, msg: 'Die Adresse ist vergeben', data: null }))
  const { code, stderr } = await run(platform, 'courses create --title Sea')
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: [
      'error: express.example did not confirm POST /v1/courses; it returned 200 with: Die Adresse ist vergeben',
      '  It may have succeeded',
      '  hint: Check before you retry: learnctl courses list',
      '',
    ].join('\n'),
  })
  expect(platform.requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
})

const noRecord = /\nnote: The response (does not contain the record|has no id)/

describe('a write that is confirmed in another style', () => {
  test.for([
    ['courses create --title Sea', json(200, { id: 5 }), null],
    [
      'courses create --title Sea',
      json(200, { code: 0, msg: 'success', data: { id: 5, title: 'Sea' } }),
      null,
    ],
    ['courses create --title Sea', json(200, { code: 1, msg: '成功', data: { id: 5, title: 'Sea' } }), null],
    ['courses create --title Sea', json(200, { Id: 5, Title: 'Sea', errors: [] }), null],
    ['courses create --title Sea', json(200, { status: 'success', data: { course: { id: 5 } } }), null],
    ['courses create --title Sea', json(202, { id: 5, title: 'Sea' }), null],
    ['courses create --title Sea', json(207, { results: [{ status: 201, id: 5, title: 'Sea' }] }), null],
    ['courses create --title Sea', json(201, { message: 'created' }), noRecord],
    ['courses create --title Sea', json(200, 'Course created'), noRecord],
    ['courses create --title Sea', json(200, { message: 'Course created successfully' }), noRecord],
    ['courses create --title Sea', json(200, { success: true }), noRecord],
    ['courses create --title Sea', json(200, { affectedRows: 1 }), noRecord],
    ['courses create --title Sea', json(200, {}, { location: '/v1/courses/5' }), noRecord],
    ['courses create --title Sea', { status: 200, headers: {}, body: null }, noRecord],
    ['courses update 7 --title Sea', json(200, { code: 0, message: 'OK' }), noRecord],
    ['courses update 7 --title Sea', json(200, { courseId: 7 }), null],
    ['courses update 7 --title Sea', { status: 204, headers: {}, body: null }, noRecord],
    ['progress set 7 --course 3 --completion 40', json(200, true), noRecord],
    [
      'progress set 7 --course 3 --completion 40',
      json(200, { learner_id: 7, percent_complete: '40.0' }),
      null,
    ],
    ['webhooks deliveries replay 7', json(200, { id: 7, status: 'applied', reason: 'already known' }), null],
    ['courses delete 7 --yes', json(200, { id: 7, title: 'Algebra' }), null],
    ['courses delete 7 --yes', json(200, { deleted: true }), null],
    ['courses delete 7 --yes', { status: 200, headers: {}, body: null }, null],
  ] as const)('is done: %s %j', async ([line, answer, note], { run }) => {
    const { code, stderr } = await run(answering(answer), line)
    expect(code, stderr).toBe(0)
    if (note === null) expect(stderr).not.toMatch(noRecord)
    else expect(stderr).toMatch(note)
  })
})

describe('progress that is set without a time', () => {
  test('is compared with what is shown', async ({ run }) => {
    const line = 'progress set 7 --course 3 --completion 100'
    const { code, stderr } = await run(
      answering(json(200, { courseId: 3, completionPercentage: 99.99 })),
      line,
    )
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^error: express\.example did not set --completion\n {2}--completion is 99\.99, not 100\n/,
    )
    const later = { courseId: 3, completionPercentage: 100, lastAccessed: '2027-01-01T00:00:00Z' }
    expect((await run(answering(json(200, later)), line)).code).toBe(0)
  })

  test.for([
    { learnerId: 8, courseId: 3, completionPercentage: 3 },
    { learner_id: 8, course_id: 3, completion_percentage: 40 },
    { learnerId: 7, courseId: 4, completionPercentage: 40 },
  ])('is not set by the progress of another learner or course: %j', async (body, { run }) => {
    const { code, stdout, stderr } = await run(
      answering(json(200, body)),
      'progress set 7 --course 3 --completion 40',
    )
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      / is about another record: (learner|course)Id is \d, not "\d"\n {2}It may have succeeded/,
    )
  })
})

test('a change that is answered with another course has not been made', async ({ run }) => {
  const { code, stderr } = await run(
    answering(json(200, { id: 8, title: 'Algebra' })),
    'courses update 7 --title Sea',
  )
  expect(code).toBe(1)
  expect(stderr).toContain('is about another record: id is "8", not "7"\n')
})

describe('an answer about another record', () => {
  const user = { id: 'u99', email: 'c@d.example', externalId: 'zz' }
  test.for([
    ['courses create --title Sea', user, 'email is "c@d.example", which was not sent'],
    ['courses create --title Sea --external-id A', user, 'externalId is "zz", not "A"'],
    ['users create --email a@b.example', user, 'email is "c@d.example", not "a@b.example"'],
  ] as const)('is a failure of %s', async ([line, body, message], { run }) => {
    const { code, stderr } = await run(answering(json(200, body)), line)
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) })
  })

  test.for([
    ['users create --email a@b.example', { id: 9, email: 'A@B.example' }],
    ['users create --email a@b.example', { id: 9, email: 'a***@b.example' }],
    ['courses create --title Sea --external-id A', { id: 9, title: 'Sea', externalId: '' }],
  ] as const)('is none for %s and %j', async ([line, body], { run }) => {
    expect((await run(answering(json(200, body)), line)).stderr).not.toContain('another record')
  })
})
