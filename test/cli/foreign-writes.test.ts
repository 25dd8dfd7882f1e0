import { describe, expect } from 'vitest'
import type { HttpResponse } from '../../src/contract/http.ts'
import { expressPlatform } from '../helpers/foreign-platforms/express.ts'
import { type ForeignPlatform, json } from '../helpers/foreign-platforms/platform.ts'
import { test } from '../helpers/foreign-platforms/run.ts'

/** A platform that answers every write in this way, and does nothing. */
function answering(answer: HttpResponse): ForeignPlatform {
  const platform = expressPlatform()
  platform.intercept(({ method }) => (method === 'GET' ? undefined : answer))
  return platform
}

const text = (body: string, type = 'text/html'): HttpResponse => ({
  status: 200,
  headers: { 'content-type': type },
  body,
})
const page = text('<html><title>404</title>Page not found</html>')

describe('a write that is answered with what cannot be read', () => {
  test.for([
    ['courses delete 7 --yes', 'DELETE /v1/courses/7', 'courses list'],
    ['users delete 7 --erase --yes', 'DELETE /v1/users/7', 'users list'],
    ['courses create --title Sea', 'POST /v1/courses', 'courses list'],
    ['progress set 7 --course 3 --completion 5', 'PUT /v1/learners/7/progress', 'analytics export'],
  ])('is not said to be done: %s', async ([line = '', request, check], { run }) => {
    const { code, stdout, stderr } = await run(answering(page), line)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(`The response from express.example to ${request} is a web page, not JSON`)
    expect(stderr).toContain(`  It may have succeeded\n  hint: Check before you retry: learnctl ${check}\n`)
  })

  test('is done where the platform says so in a word', async ({ run }) => {
    const deleted = await run(answering(text('OK\n')), 'courses delete 7 --yes')
    expect(deleted).toMatchObject({ code: 0, stderr: 'Deleted course 7\n' })
    const set = await run(answering(text('Saved.')), 'progress set 7 --course 3 --completion 5')
    expect(set).toMatchObject({ code: 0, stderr: 'Set progress of learner 7 in course 3 to 5%\n' })
  })
})

test.for([
  ['courses delete 7 --yes', { acknowledged: true, deletedCount: 0 }],
  ['courses update 7 --title Sea', { acknowledged: true, matchedCount: 0, modifiedCount: 0 }],
  ['courses update 7 --title Sea', { success: true, data: { affected_rows: 0 } }],
  ['progress set 7 --course 3 --completion 5', false],
] as const)('a write that the platform says changed nothing fails: %s %j', async ([line, body], { run }) => {
  const { code, stdout, stderr } = await run(answering(json(200, body)), line)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^error: The response from express\.example to .* says that nothing was changed\n$/)
})

test('a write that found everything as it should be has succeeded', async ({ run }) => {
  const platform = answering(json(200, { acknowledged: true, matchedCount: 1, modifiedCount: 0 }))
  expect(await run(platform, 'courses update 7 --title Sea')).toMatchObject({ code: 0 })
})
