import { expect, test } from 'vitest'
import { ForeignWrite } from '../../src/contract/foreign-records.ts'
import { classroomRecords } from '../../src/lms/classroom-records.ts'
import { writeClassroom } from '../../src/lms/classroom-writes.ts'
import type { RecordQuestion, RecordRequest, RecordResponse } from '../../src/lms/records.ts'
import { classroomMethods, discoveredName } from './classroom-discovery.ts'

const nameOf = ({ method, path, body }: RecordRequest) =>
  discoveredName(method, path, body === undefined ? undefined : JSON.parse(body))

const answer = (body: object, status = 200): RecordResponse => ({
  status,
  headers: {},
  body: JSON.stringify(body),
})
const refusal = (code: number, status: string, message = '') =>
  answer({ error: { code, status, message } }, code)

/** Names of the methods that reading a list calls, page by page; each list has two pages. */
function methodsReading(part: RecordQuestion['part'], of: string | null): string[] {
  const names: string[] = []
  let position: string | null = null
  do {
    const question: RecordQuestion = { part, of, position }
    const request = classroomRecords.request(question, 'token')
    names.push(nameOf(request))
    const isFirst: boolean = !request.path.includes('pageToken')
    const list = isFirst ? { nextPageToken: 'a/b+c=' } : {}
    const page = classroomRecords.read(answer(part === 'users' ? { id: '7' } : list), question)
    if ('refusal' in page) throw new Error(page.detail)
    position = page.next
  } while (position !== null)
  return names
}

/** Names of the methods that writing a record calls with these responses. */
function methodsWriting(record: object, ...responses: RecordResponse[]): string[] {
  const writing = writeClassroom(ForeignWrite.parse(record), 'token')
  const names: string[] = []
  let step = writing.next()
  while (!step.done) {
    names.push(nameOf(step.value))
    step = writing.next(responses.shift() ?? answer({ id: '7' }))
  }
  return names
}

test('each request that reads is a method of Google’s discovery document', () => {
  const read = classroomRecords.lists.flatMap(({ part, of }) =>
    methodsReading(part, of === null ? null : '42'),
  )
  expect([...new Set(read)]).toEqual([
    'courses.list',
    'courses.aliases.list',
    'courses.students.list',
    'courses.teachers.list',
    'invitations.list',
    'userProfiles.get',
    'courses.courseWork.list',
    'courses.courseWork.studentSubmissions.list',
  ])
})

test('each request that writes is a method of it, with its parameters and fields', () => {
  const course = {
    part: 'courses',
    externalId: 'BIO/101: a',
    title: 'Biology',
    description: 'x',
    status: 'draft',
  }
  const aliases = refusal(400, 'FAILED_PRECONDITION')
  const known = refusal(409, 'ALREADY_EXISTS')
  expect(methodsWriting(course, aliases, known)).toEqual(['courses.create', 'courses.create', 'courses.get'])
  expect(methodsWriting({ ...course, id: '42' })).toEqual(['courses.patch'])
  const member = { part: 'enrollments', courseId: '42', email: 'ada@school.example', role: 'learner' }
  const direct = refusal(403, 'PERMISSION_DENIED', '@CannotDirectAddUser')
  expect(methodsWriting(member, direct)).toEqual(['courses.students.create', 'invitations.create'])
  expect(methodsWriting({ ...member, role: 'instructor' })).toEqual(['courses.teachers.create'])
  const item = { part: 'items', courseId: '42', label: 'Quiz', scoreMaximum: 20 }
  const listed = answer({ courseWork: [], nextPageToken: 'a/b' })
  expect(methodsWriting(item, listed, answer({}))).toEqual([
    'courses.courseWork.list',
    'courses.courseWork.list',
    'courses.courseWork.create',
  ])
  expect(methodsWriting({ ...item, id: '7' })).toEqual(['courses.courseWork.patch'])
  const grade = { part: 'grades', courseId: '42', itemId: '7', id: 'Cg', scoreGiven: 1, returned: true }
  expect(methodsWriting(grade, answer({}), aliases)).toEqual([
    'courses.courseWork.studentSubmissions.patch',
    'courses.courseWork.studentSubmissions.return',
    'courses.courseWork.studentSubmissions.get',
  ])
})

test('nothing is deleted, and a request beside the document is noticed', () => {
  expect(Object.values(classroomMethods).some(({ method }) => method === 'DELETE')).toBe(false)
  expect(discoveredName('DELETE', '/v1/courses/42', undefined)).toBe('no method: DELETE /v1/courses/42')
  expect(discoveredName('GET', '/v1/courses?page=2', undefined)).toBe('courses.list has no parameter page')
  expect(discoveredName('POST', '/v1/courses', { title: 'x' })).toBe('courses.create has no field title')
  expect(discoveredName('PATCH', '/v1/courses/1?updateMask=title', {})).toBe(
    'courses.patch has no field title',
  )
})
