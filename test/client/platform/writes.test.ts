import { describe, expect, test } from 'vitest'
import { courses } from '../../../src/contract/courses.ts'
import { lessons } from '../../../src/contract/lessons.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { progress } from '../../../src/contract/progress.ts'
import { users } from '../../../src/contract/users.ts'
import { scriptedTransport, testCaller } from '../harness.ts'

interface Write {
  readonly operation: Operation
  readonly params?: Readonly<Record<string, string>>
  readonly body?: object
}

const writes: Readonly<Record<string, Write>> = {
  'a new course': { operation: courses.create, body: { title: 'Sea', tags: ['a'] } },
  'a changed course': { operation: courses.update, params: { courseId: '7' }, body: { title: 'Sea' } },
  'a deleted course': { operation: courses.delete, params: { courseId: '7' } },
  'a new lesson': { operation: lessons.create, body: { courseId: '3', title: 'Tides' } },
  'a new user': { operation: users.create, body: { email: 'a@b.example' } },
  progress: {
    operation: progress.set,
    params: { learnerId: '7' },
    body: { courseId: '3', completionPercentage: 40 },
  },
}

/** Bodies of responses with a status of success that show nothing of what was done. */
const silent: readonly unknown[] = [
  {},
  [],
  null,
  0,
  1,
  true,
  false,
  'OK',
  'Saved.',
  { success: true },
  { success: false },
  { ok: 1 },
  { status: 'ok' },
  { message: 'Created' },
  { acknowledged: true, modifiedCount: 1 },
  { deletedCount: 0 },
  { code: 1002, msg: 'title exists' },
  { errors: ['Title is taken'] },
  { hasErrors: true, model: { name: 'x' } },
  { data: null },
  { data: { queued: true } },
  { jobId: 'job-5' },
  { id: 'req_1', type: 'invalid_request_error', message: 'taken' },
  { id: 'job-1', state: 'queued' },
  { jsonrpc: '2.0', id: '7', error: { message: 'taken' } },
  { id: '7', error: 'locked' },
  { success: false, course: { id: '7' }, id: '7' },
  {
    success: false,
    message: 'taken',
    data: { title: 'Sea', email: 'a@b.example', completionPercentage: 40 },
  },
  { errors: ['taken'], old: { title: 'Sea', email: 'a@b.example', completionPercentage: 40 } },
]

/** Sends a write to a platform that answers so. */
function sent({ operation, params, body }: Write, answer: Response) {
  const { caller } = testCaller({ ...scriptedTransport(answer), attempts: 1 }, false)
  return caller.call<Operation>(operation, { ...(params && { params }), ...(body && { body }) })
}

describe.for(Object.entries(writes))(
  '%s may have been written, and is not said to be, where the answer is',
  ([, write]) => {
    test.for(silent)('%j', async (body) => {
      await expect(sent(write, Response.json(body))).rejects.toMatchObject({
        name: 'ProtocolError',
        code: 'not_shown',
        message: expect.stringMatching(
          /^academy\.example did not confirm [A-Z]+ \/v1\/\S+: it (?:returned 200|showed the record) /,
        ),
      })
    })

    test('accepted for later, whatever it shows', async () => {
      const shown = { id: '7', ...write.body }
      await expect(sent(write, Response.json(shown, { status: 202 }))).rejects.toMatchObject({
        code: 'not_shown',
      })
    })

    test('a web page', async () => {
      const page = new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } })
      await expect(sent(write, page)).rejects.toMatchObject({ code: 'html' })
    })
  },
)

test.for([
  ['its id', courses.create, { id: 7 }],
  ['the id of its kind', courses.create, { course_id: 7 }],
  ['a value that was sent', courses.create, { title: 'Sea' }],
  ['the record in an envelope', courses.create, { success: true, data: { _id: 7, title: 'Sea' } }],
  ['the record under its name', courses.create, { message: 'Created', course: { id: 7 } }],
] as const)('a write has been done if the answer shows %s', async ([, operation, body]) => {
  expect((await sent({ operation, body: { title: 'Sea' } }, Response.json(body))).status).toBe(200)
})

test.for([
  [{ id: 7, title: 'Sea', description: null }, { description: null }],
  [{ id: 7, email: 'a@b.example' }, { password: 'correct horse' }],
])('a write of what no answer shows is done if it shows the record: %j', async ([shown, body]) => {
  const update = { operation: courses.update, params: { courseId: '7' }, body: body as object }
  expect(await sent(update, Response.json(shown))).toMatchObject({ id: '7' })
})

test('an id beside other values, none of which was sent, may be that of something else', async () => {
  const changed = writes['a changed course'] as Write
  await expect(sent(changed, Response.json({ id: '7', title: null }))).rejects.toMatchObject({
    code: 'not_shown',
  })
})

test('an update is shown by its modified attributes as well', async () => {
  const answer = { message: 'Updated', version: 2, modified: { title: 'Sea' } }
  const changed = writes['a changed course']
  expect(changed && (await sent(changed, Response.json(answer)))).toMatchObject({ id: '7' })
})

test.for([204, 200])('a deletion is done with an empty response (%d)', async (status) => {
  const deleted = writes['a deleted course']
  expect(deleted && (await sent(deleted, new Response(null, { status })))).toMatchObject({ data: undefined })
})

test('a response about another record is none to this write', async () => {
  const changed = writes['a changed course'] as Write
  await expect(sent(changed, Response.json({ id: 8, title: 'Sea' }))).rejects.toMatchObject({
    code: 'not_shown',
    message: 'academy.example did not confirm PUT /v1/courses/7: it showed the record 8, not 7',
  })
})

test.for([
  [{ id: 7, title: 'Algebra' }, 'title is "Algebra", not "Sea"'],
  [{ id: 7, title: ' SEA ', passingScore: 50 }, null],
  [{ id: 7, assessmentCriteria: { passingScore: 50 } }, 'assessmentCriteria.passingScore is 50, not 60'],
  [{ id: 7, tags: ['B', 'a'] }, null],
  [{ id: 7, tags: ['a'] }, 'tags is ["a"], not ["a","b"]'],
] as const)('another value than the one that was sent is an error: %j', async ([shown, error]) => {
  const body = { title: 'Sea', tags: ['a', 'b'], assessmentCriteria: { passingScore: 60 } }
  const call = sent({ operation: courses.update, params: { courseId: '7' }, body }, Response.json(shown))
  if (error === null) expect(await call).toMatchObject({ id: '7' })
  else await expect(call).rejects.toMatchObject({ code: 'not_set', message: expect.stringContaining(error) })
})
