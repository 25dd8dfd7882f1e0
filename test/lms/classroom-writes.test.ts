import { expect, test } from 'vitest'
import type { ForeignWrite } from '../../src/contract/foreign-writes.ts'
import { type SearchPosition, writeClassroom } from '../../src/lms/classroom-writes.ts'
import type { RecordRequest } from '../../src/lms/records.ts'

const essay: ForeignWrite = {
  ...{ part: 'items', id: null, courseId: '7', externalId: null, title: null, description: null },
  ...{ status: null, email: null, role: null, label: 'Essay', scoreMaximum: 20, itemId: null },
  ...{ scoreGiven: null, published: true, returned: false },
}

/** Sends each request to `answer`, at most `most` of them; returns the requests and the outcome. */
function write(position: SearchPosition, answer: (request: RecordRequest) => object, most = 10) {
  const requests: string[] = []
  const writing = writeClassroom(essay, 'a-token', position)
  let step = writing.next()
  while (!step.done && requests.length < most) {
    const { method, path } = step.value
    requests.push(`${method} ${new URLSearchParams(path.split('?')[1] ?? '').get('pageToken') ?? '-'}`)
    step = writing.next({ status: 200, headers: {}, body: JSON.stringify(answer(step.value)) })
  }
  return { requests, outcome: step.done ? step.value : null }
}

const listed = (title: string, nextPageToken?: string) => ({
  courseWork: [{ id: title, title, associatedWithDeveloper: true }],
  ...(nextPageToken && { nextPageToken }),
})

test('a search for course work that was stopped continues, and looks at the newest again before it creates', () => {
  const position: SearchPosition = { pageToken: null }
  write(position, () => listed('Quiz', 'page-2'), 1)
  expect(position).toEqual({ pageToken: 'page-2' })
  const { requests, outcome } = write(position, ({ method }) =>
    method === 'POST' ? { id: '9' } : listed('Quiz'),
  )
  expect(requests).toEqual(['GET page-2', 'GET -', 'POST -'])
  expect(outcome).toMatchObject({ outcome: 'created', id: '9' })
})

test('a search that continues creates nothing if another run has created it meanwhile', () => {
  const { requests, outcome } = write({ pageToken: 'page-2' }, ({ path }) =>
    listed(path.includes('page-2') ? 'Quiz' : 'Essay'),
  )
  expect(requests).toEqual(['GET page-2', 'GET -'])
  expect(outcome).toMatchObject({ outcome: 'unchanged', id: 'Essay' })
})
