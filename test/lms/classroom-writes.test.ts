import { expect, test } from 'vitest'
import type { ForeignWrite } from '../../src/contract/foreign-records.ts'
import { writeClassroom } from '../../src/lms/classroom-writes.ts'

const essay: ForeignWrite = {
  ...{ part: 'items', id: null, courseId: '7', externalId: null, title: null, description: null },
  ...{ status: null, email: null, role: null, label: 'Essay', scoreMaximum: 20, itemId: null },
  ...{ scoreGiven: null, published: true, returned: false },
}

const listed = (title: string, nextPageToken?: string) => ({
  courseWork: [{ id: title, title, associatedWithDeveloper: true }],
  ...(nextPageToken && { nextPageToken }),
})

test.for([
  ['is created if no page has it', 'Test', ['GET -', 'GET page-2', 'POST -'], 'created'],
  ['is found on any page', 'Essay', ['GET -', 'GET page-2'], 'unchanged'],
] as const)('course work %s', ([, title, expected, outcome]) => {
  const requests: string[] = []
  const writing = writeClassroom(essay, 'a-token')
  let step = writing.next()
  while (!step.done) {
    const { method, path } = step.value
    const pageToken = new URLSearchParams(path.split('?')[1] ?? '').get('pageToken')
    requests.push(`${method} ${pageToken ?? '-'}`)
    const list = pageToken === null ? listed('Quiz', 'page-2') : listed(title)
    const answer = method === 'POST' ? { id: '9' } : list
    step = writing.next({ status: 200, headers: {}, body: JSON.stringify(answer) })
  }
  expect(requests).toEqual(expected)
  expect(step.value.outcome).toBe(outcome)
})
