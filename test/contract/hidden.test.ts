import { expect } from 'vitest'
import { operations } from '../../src/contract/index.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { type Answer, type Person, type TestAcademy, test } from '../helpers/academy.ts'
import { connect } from '../helpers/lms.ts'
import { createGrant } from '../helpers/signed-in.ts'
import { sample } from '../lms/samples.ts'

/** A reference in a parameter or field, to a hidden record and to a missing one. */
interface Pair {
  readonly hidden: string
  readonly unknown: string
}

/** Records that a user must not learn of, and those that they see. */
interface Scene {
  readonly person: Person
  readonly own: Readonly<Record<string, string>>
  readonly pairs: Readonly<Record<string, readonly Pair[]>>
}

/** Makes the records for a learner, or for an instructor of another course. */
async function sceneOf(
  academy: TestAcademy,
  admin: Person,
  person: Person,
  role: 'learner' | 'instructor',
): Promise<Scene> {
  const made = async (path: string, body: object): Promise<string> => (await admin.post(path, body)).body.id
  const courseId = await made('/v1/courses', { title: 'Open', status: 'published' })
  const module = { title: 'Secret module' }
  const draft = await admin.post('/v1/courses', { title: 'Secret', externalId: 'draft-1', modules: [module] })
  const draftId = draft.body.id
  const archivedId = await made('/v1/courses', { title: 'Old', externalId: 'old-1', status: 'published' })
  const lesson = { courseId, title: 'Secret lesson', status: 'draft', externalId: 'lesson-1' }
  const lessonId = await made('/v1/lessons', lesson)
  const otherId = await made('/v1/users', {
    email: 'other@school.example',
    externalId: 'S-1',
    username: 'other',
  })
  const enrollmentId = await made('/v1/enrollments', { courseId, userId: otherId })
  const groupId = await made('/v1/groups', { name: 'Secret group', externalId: 'group-1' })
  await admin.put(`/v1/groups/${groupId}/members/${otherId}`)
  const deletedGroupId = await made('/v1/groups', { name: 'Gone' })
  await admin.delete(`/v1/groups/${deletedGroupId}`)
  const grade = await admin.put('/v1/grades', {
    courseId,
    learnerId: otherId,
    itemId: 'exam-1',
    scoreGiven: 90,
  })
  await admin.put(`/v1/learners/${otherId}/progress`, { courseId: archivedId, completionPercentage: 10 })
  await admin.put(`/v1/courses/${archivedId}`, { status: 'archived' })
  const ownCourseId = role === 'learner' ? courseId : await made('/v1/courses', { title: 'Own' })
  await made('/v1/enrollments', { courseId: ownCourseId, userId: person.id, role })
  const deletedId = await made('/v1/courses', { title: 'Gone' })
  await admin.delete(`/v1/courses/${deletedId}`)
  const deletedLessonId = await made('/v1/lessons', { courseId, title: 'Gone' })
  await admin.delete(`/v1/lessons/${deletedLessonId}`)
  const app = await admin.post('/v1/apps', { name: 'Timetable', redirectUris: ['https://time.example/cb'] })
  const { clientId } = app.body
  const grant = await createGrant(academy, { userId: otherId, clientId })
  const calendar = await admin.post('/v1/calendars', { userId: otherId })
  const key = await admin.post('/v1/keys', { name: 'spare', userId: otherId })
  const endpoint = await admin.post('/v1/webhooks/endpoints', { url: 'https://lms.example/hooks' })
  const message = await admin.post(`/v1/webhooks/endpoints/${endpoint.body.id}/test`)
  const moodle = await connect(academy, admin, 'moodle', { gradeToProgress: 'none' })
  const delivery = await moodle.deliver(sample('moodle_local_webhooks.user_graded.composed'))
  const mapped = { noun: 'course', externalKey: '4', reference: courseId }
  const mapping = await admin.put('/v1/integrations/moodle/mappings', mapped)
  const [entry] = (await admin.get(`/v1/audit?subject_id=${draftId}`)).body.data
  const lease = { id: 'lease-of-another-x', holder: 'build-7, process 4711' }
  await admin.put('/v1/apply-lease', lease)
  const change = await admin.post('/v1/changes', { command: 'apply' })
  const plan = await admin.post('/v1/plans', { command: 'apply' })
  const users: Pair[] = [
    { hidden: otherId, unknown: 'usr_none' },
    { hidden: 'ext:S-1', unknown: 'ext:S-9' },
    { hidden: 'email:other@school.example', unknown: 'email:nobody@school.example' },
  ]
  const courses: Pair[] = [
    { hidden: draftId, unknown: 'crs_none' },
    { hidden: 'ext:draft-1', unknown: 'ext:draft-9' },
    { hidden: archivedId, unknown: 'crs_none' },
    { hidden: 'ext:old-1', unknown: 'ext:old-9' },
    ...(role === 'learner' ? [] : [{ hidden: courseId, unknown: 'crs_none' }]),
  ]
  const groups: Pair[] = [
    { hidden: groupId, unknown: 'grp_none' },
    { hidden: 'ext:group-1', unknown: 'ext:group-9' },
  ]
  const externalIds = ['draft-1', 'old-1', 'lesson-1', 'S-1', 'group-1'].map((hidden) => ({
    hidden,
    unknown: 'none-9',
  }))
  return {
    person,
    own: { courseId: ownCourseId, learnerId: person.id, userId: person.id },
    pairs: {
      courseId: courses,
      course_id: courses,
      userId: users,
      learnerId: users,
      user_id: users,
      learner_id: users,
      lessonId: [
        { hidden: lessonId, unknown: 'les_none' },
        { hidden: 'ext:lesson-1', unknown: 'ext:lesson-9' },
      ],
      groupId: groups,
      group_id: groups,
      deletedGroupId: [{ hidden: deletedGroupId, unknown: 'grp_none' }],
      deletedCourseId: [{ hidden: deletedId, unknown: 'crs_none' }],
      deletedLessonId: [{ hidden: deletedLessonId, unknown: 'les_none' }],
      module_id: [{ hidden: draft.body.modules[0].id, unknown: 'mod_none' }],
      moduleId: [{ hidden: draft.body.modules[0].id, unknown: 'mod_none' }],
      external_id: externalIds,
      externalId: externalIds,
      email: [{ hidden: 'other@school.example', unknown: 'nobody@school.example' }],
      enrollmentId: [{ hidden: enrollmentId, unknown: 'enr_none' }],
      gradeId: [{ hidden: grade.body.id, unknown: 'grd_none' }],
      item_id: [{ hidden: 'exam-1', unknown: 'exam-9' }],
      itemId: [{ hidden: 'exam-1', unknown: 'exam-9' }],
      grantId: [{ hidden: grant.id, unknown: 'gnt_none' }],
      calendarId: [{ hidden: calendar.body.id, unknown: 'cal_none' }],
      keyId: [{ hidden: key.body.id, unknown: 'key_none' }],
      endpointId: [{ hidden: endpoint.body.id, unknown: 'whe_none' }],
      endpoint_id: [{ hidden: endpoint.body.id, unknown: 'whe_none' }],
      messageId: [{ hidden: message.body.id, unknown: 'msg_none' }],
      deliveryId: [{ hidden: delivery.body.deliveryId, unknown: 'whd_none' }],
      lmsKind: [{ hidden: 'moodle', unknown: 'blackboard' }],
      mappingId: [{ hidden: mapping.body.id, unknown: 'map_none' }],
      // An apply in progress keeps every instructor from applying.
      leaseId: role === 'learner' ? [{ hidden: lease.id, unknown: 'lease-of-no-apply-x' }] : [],
      id: [{ hidden: lease.id, unknown: 'lease-of-no-apply-x' }],
      clientId: [{ hidden: clientId, unknown: 'app_none' }],
      entryId: [{ hidden: entry.id, unknown: 'aud_none' }],
      planId: [{ hidden: plan.body.id, unknown: 'pln_none' }],
      // Numbers are not references.
      stepNumber: [],
      changeId: [{ hidden: change.body.id, unknown: 'chg_none' }],
      change_id: [{ hidden: change.body.id, unknown: 'chg_none' }],
      request_id: [{ hidden: 'req_none', unknown: 'req_none' }],
      subject_id: [{ hidden: draftId, unknown: 'crs_none' }],
      // Everyone may see all terms.
      termId: [],
      term_id: [],
      // Numbers are not references.
      version: [],
      cursor: [],
    },
  }
}

/** Location of a value in an operation: its path, query or body. */
type Site = 'path' | 'query' | 'body'

/** Returns every location of a reference in an operation. */
function placesOf({ path, query, body }: Operation): { site: Site; name: string }[] {
  const fields = body && 'shape' in body ? Object.keys(body.shape as object) : []
  const isReference = (name: string) => /(^|_)id$|Id$|^email$/.test(name)
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({ site: 'path' as const, name })),
    ...Object.keys(query?.shape ?? {})
      .filter(isReference)
      .map((name) => ({ site: 'query' as const, name })),
    ...fields.filter(isReference).map((name) => ({ site: 'body' as const, name })),
  ]
}

/** Sends a request with a reference in one location and what the user sees elsewhere; replaces echoes by `REF`. */
async function ask(
  { person, own }: Scene,
  operation: Operation,
  { site, name }: { site: Site; name: string },
  reference: string,
): Promise<Pick<Answer, 'status' | 'text'>> {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) =>
    encodeURIComponent(site === 'path' && parameter === name ? reference : (own[parameter] ?? '1')),
  )
  const query = new URLSearchParams()
  if (operation.query?.shape['course_id']) query.set('course_id', own['courseId'] ?? '')
  if (site === 'query') query.set(name, reference)
  const body = {
    courseId: own['courseId'],
    completionPercentage: 10,
    ...(site === 'body' && { [name]: reference }),
  }
  const { status, text } = await person.send(
    operation.method,
    `${path}?${operation.query ? query : ''}`,
    operation.body ? JSON.stringify(body) : undefined,
    operation.body ? { 'content-type': 'application/json' } : {},
  )
  const comparable = text.replace(/"requestId":"[^"]*"/, '')
  return {
    status,
    text: comparable.replaceAll(encodeURIComponent(reference), 'REF').replaceAll(reference, 'REF'),
  }
}

test.for(['learner', 'instructor'] as const)(
  'every operation responds to a hidden record like to a missing one, wherever a user who is %s names it',
  async (role, { academy, admin }) => {
    const scene = await sceneOf(academy, admin, await academy.person(role), role)
    let compared = 0
    for (const operation of operations.filter(({ scope }) => scope !== null)) {
      for (const place of placesOf(operation)) {
        const pairs = scene.pairs[place.name]
        if (!pairs) throw new Error(`${operation.id}: what of ${place.name} is hidden from them?`)
        for (const { hidden, unknown } of pairs) {
          const what = `${operation.id}, ${place.site} ${place.name}, ${hidden}`
          const absent = await ask(scene, operation, place, unknown)
          expect(await ask(scene, operation, place, hidden), what).toEqual(absent)
          expect(absent.status, what).not.toBe(500)
          compared += 1
        }
      }
    }
    expect(compared).toBeGreaterThan(60)
  },
)

test('a course that is no longer published is known to those who took it', async ({ admin, learner }) => {
  const course = { title: 'Logic', externalId: 'LOG-1', status: 'published' }
  const { id: courseId } = (await admin.post('/v1/courses', course)).body
  await admin.post('/v1/enrollments', { courseId, userId: learner.id })
  await learner.put(`/v1/learners/${learner.id}/progress`, { courseId, completionPercentage: 10 })
  await admin.put(`/v1/courses/${courseId}`, { status: 'archived' })
  for (const path of [
    '/v1/enrollments?course_id=ext:LOG-1',
    `/v1/learners/${learner.id}/progress?course_id=ext:LOG-1`,
    `/v1/learners/${learner.id}/progress/history?course_id=${courseId}`,
    '/v1/progress?course_id=ext:LOG-1',
    '/v1/progress/history?course_id=ext:LOG-1',
  ]) {
    expect((await learner.get(path)).body.data, path).toMatchObject([{ courseId }])
  }
  const late = { courseId, completionPercentage: 20 }
  expect((await learner.put(`/v1/learners/${learner.id}/progress`, late)).body.code).toBe('course_archived')
})

test('a taken user name tells its owner to those who see them', async ({ admin, learner, instructor }) => {
  const { id } = (await admin.post('/v1/users', { email: 'a@school.example', username: 'ada' })).body
  const answer = await learner.put('/v1/user/profile', { username: 'ada' })
  expect(answer).toMatchObject({ status: 409, body: { code: 'duplicate' } })
  expect(answer.text).not.toContain(id)
  expect(answer.body).not.toHaveProperty('existingStatus')
  const { id: courseId } = (await instructor.post('/v1/courses', { title: 'Logic' })).body
  expect((await instructor.put('/v1/user/profile', { username: 'ada' })).body).not.toHaveProperty('id')
  await admin.post('/v1/enrollments', { courseId, userId: id })
  expect((await instructor.put('/v1/user/profile', { username: 'ada' })).body).toMatchObject({ id })
})
