import { auth, classroom, type classroom_v1 } from '@googleapis/classroom'
import { expect, onTestFinished, test } from 'vitest'
import { ForeignWrite } from '../../src/contract/foreign-records.ts'
import { classroomRecords } from '../../src/lms/classroom-records.ts'
import { writeClassroom } from '../../src/lms/classroom-writes.ts'
import type { RecordRequest, RecordResponse } from '../../src/lms/records.ts'
import {
  type FakeClassroom,
  googleClient,
  openFakeClassroom,
  type SeenRequest,
  type ServedClassroom,
} from '../helpers/fake-classroom.ts'

/** Serves a stand-in with Ada, and returns Google's client for it. */
async function served(): Promise<{ fake: ServedClassroom; google: classroom_v1.Classroom; token: string }> {
  const fake = await openFakeClassroom()
  onTestFinished(() => fake.close())
  fake.addUser('ada@school.example')
  fake.addUser('bob@school.example')
  fake.addUser('gus@elsewhere.example')
  const user = new auth.OAuth2({
    ...{ clientId: googleClient.id, clientSecret: googleClient.secret },
    endpoints: { oauth2TokenUrl: fake.tokenUrl },
  })
  user.setCredentials({ refresh_token: googleClient.refreshToken })
  const { token } = await user.getAccessToken()
  return {
    fake,
    google: classroom({ version: 'v1', auth: user, rootUrl: `${fake.url}/` }),
    token: token ?? '',
  }
}

/** Sends a request of this program to a stand-in. */
async function send(
  fake: ServedClassroom,
  { method, path, headers, body }: RecordRequest,
): Promise<RecordResponse> {
  const response = await fetch(fake.url + path, { method, headers, ...(body !== undefined && { body }) })
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  }
}

/** Writes a record as the server does. */
async function write(fake: ServedClassroom, token: string, record: object): Promise<string> {
  const writing = writeClassroom(ForeignWrite.parse(record), token)
  let step = writing.next()
  while (!step.done) step = writing.next(await send(fake, step.value))
  return step.value.outcome
}

const shown = ({ method, path, query, body }: SeenRequest) => [method, path, [...query].toSorted(), body]
const requestsOf = ({ requests }: FakeClassroom) => requests.map(shown)

test('Google’s client library writes with the same requests', async () => {
  const [own, other] = [await served(), await served()]
  const { google } = other
  const alias = 'd:BIO/101'
  expect(
    await write(own.fake, own.token, {
      part: 'courses',
      externalId: 'BIO/101',
      title: 'Biology',
      status: 'published',
    }),
  ).toBe('created')
  const requestBody = { id: alias, ownerId: 'me', name: 'Biology', courseState: 'ACTIVE' }
  const { data: course } = await google.courses.create({ requestBody })
  const id = course.id ?? ''
  expect(own.fake.courses[0]?.id).toBe(id)

  const changed = {
    part: 'courses',
    id,
    externalId: 'BIO/101',
    title: 'Sea',
    description: 'x',
    status: 'draft',
  }
  expect(await write(own.fake, own.token, changed)).toBe('updated')
  const fields = { name: 'Sea', description: 'x', courseState: 'PROVISIONED' }
  await google.courses.patch({ id, updateMask: Object.keys(fields).join(), requestBody: fields })

  const people = { part: 'enrollments', courseId: id, role: 'learner' }
  expect(await write(own.fake, own.token, { ...people, email: 'ada@school.example' })).toBe('created')
  expect(await write(own.fake, own.token, { ...people, email: 'gus@elsewhere.example' })).toBe('invited')
  await google.courses.students.create({ courseId: id, requestBody: { userId: 'ada@school.example' } })
  const gus = 'gus@elsewhere.example'
  const direct = google.courses.students.create({ courseId: id, requestBody: { userId: gus } })
  await expect(direct).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining('@CannotDirectAddUser'),
  })
  await google.invitations.create({ requestBody: { courseId: id, userId: gus, role: 'STUDENT' } })

  const teacher = { ...people, role: 'instructor', email: 'bob@school.example' }
  expect(await write(own.fake, own.token, teacher)).toBe('created')
  await google.courses.teachers.create({ courseId: id, requestBody: { userId: teacher.email } })

  const quiz = { part: 'items', courseId: id, label: 'Quiz', scoreMaximum: 20 }
  expect(await write(own.fake, own.token, quiz)).toBe('created')
  await google.courses.courseWork.list({ courseId: id, pageSize: 100, orderBy: 'updateTime desc' })
  const work = { title: 'Quiz', workType: 'ASSIGNMENT', state: 'PUBLISHED', maxPoints: 20 }
  const made = await google.courses.courseWork.create({ courseId: id, requestBody: work })
  const courseWorkId = made.data.id ?? ''
  expect(await write(own.fake, own.token, { ...quiz, id: courseWorkId, scoreMaximum: 30 })).toBe('updated')
  const points = { updateMask: 'maxPoints', requestBody: { maxPoints: 30 } }
  await google.courses.courseWork.patch({ courseId: id, id: courseWorkId, ...points })

  for (const { fake } of [own, other])
    for (const all of fake.courses[0]?.submissions.values() ?? [])
      for (const one of all) one.state = 'TURNED_IN'
  const submission = own.fake.courses[0]?.submissions.get(courseWorkId)?.[0]?.id ?? ''
  const grade = {
    part: 'grades',
    courseId: id,
    itemId: courseWorkId,
    id: submission,
    scoreGiven: 17,
    returned: true,
  }
  expect(await write(own.fake, own.token, grade)).toBe('updated')
  const place = { courseId: id, courseWorkId, id: submission }
  const grades = { draftGrade: 17, assignedGrade: 17 }
  const submissions = google.courses.courseWork.studentSubmissions
  await submissions.patch({ ...place, updateMask: 'draftGrade,assignedGrade', requestBody: grades })
  await submissions.return({ ...place, requestBody: {} })

  expect(requestsOf(own.fake)).toEqual(requestsOf(other.fake))
  expect(own.fake.courses.map(({ fields }) => fields)).toEqual(other.fake.courses.map(({ fields }) => fields))
})

test('Google’s client library reads with the same requests, and reads the pages of the stand-in', async () => {
  const [own, other] = [await served(), await served()]
  for (const { fake } of [own, other]) {
    fake.pageSize = 1
    const course = fake.addCourse('Biology', { alias: 'd:BIO' })
    course.students.push(...fake.users.slice(1).map(({ id }) => id))
    fake.addWork(course, 'Quiz', 20, true)
    fake.addCourse('Chemistry')
  }
  const id = own.fake.courses[1]?.id ?? ''
  for (const { part, of } of classroomRecords.lists) {
    if (part === 'users') continue
    let position: string | null = null
    do {
      const question = { part, of: of === null ? null : id, position }
      const page = classroomRecords.read(
        await send(own.fake, classroomRecords.request(question, own.token)),
        question,
      )
      if ('refusal' in page) throw new Error(page.detail)
      position = page.next
    } while (position !== null)
  }

  const { google } = other
  async function all<Page extends { nextPageToken?: string | null }>(
    list: (pageToken: object) => Promise<{ data: Page }>,
  ) {
    let more: object = {}
    for (;;) {
      const { nextPageToken } = (await list(more)).data
      if (!nextPageToken) return
      more = { pageToken: nextPageToken }
    }
  }
  const pageSize = 100
  const courseStates = ['ACTIVE', 'ARCHIVED', 'PROVISIONED']
  await all((more) => google.courses.list({ courseStates, pageSize, ...more }))
  await all((more) => google.courses.aliases.list({ courseId: id, pageSize, ...more }))
  await all((more) => google.courses.students.list({ courseId: id, pageSize, ...more }))
  await all((more) => google.courses.teachers.list({ courseId: id, pageSize, ...more }))
  await all((more) => google.invitations.list({ courseId: id, pageSize, ...more }))
  await all((more) => google.courses.courseWork.list({ courseId: id, pageSize, ...more }))
  const works = google.courses.courseWork.studentSubmissions
  await all((more) => works.list({ courseId: id, courseWorkId: '-', pageSize, ...more }))
  expect(requestsOf(own.fake)).toEqual(requestsOf(other.fake))
})
