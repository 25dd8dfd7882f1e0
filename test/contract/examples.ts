import { readExampleData } from '../../src/cli/local-server/example-data.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { googleIntegration } from '../helpers/fake-classroom.ts'
import { moodleToken } from '../helpers/fake-moodle.ts'
import { connect } from '../helpers/lms.ts'
import { createGrant } from '../helpers/signed-in.ts'
import { minute, type Person, type TestAcademy } from '../helpers/test-academy.ts'
import { sample } from '../lms/samples.ts'

const assignment = {
  type: 'assignment',
  title: 'TMA 1753',
  passingScore: 40,
  weight: 20,
  questions: [{ type: 'essay', prompt: 'Discuss the second block of the module', points: 100 }],
}

/** Queries of the examples by operation id; `{names}` stand for records that `furnish` made. */
export const queries: Readonly<Record<string, string>> = {
  'courses.list': 'status=published,archived&sort=title&include_total=true',
  'courses.delete': 'force=true',
  'lessons.list': 'course_id={courseId}&status=published',
  'lessons.listDeleted': 'course_id={courseId}',
  'users.list': 'role=learner&q=oulad',
  'users.delete': 'erase=true',
  'terms.list': 'sort=startDate',
  'enrollments.list': 'user_id={learnerId}&status=active,completed',
  'groups.list': 'course_id={courseId}&user_id={learnerId}',
  'groups.listDeleted': 'course_id={courseId}',
  'groups.memberships': 'group_id={groupId}',
  'progress.all': 'course_id={courseId}&updated_since=2014-01-01T00:00:00Z',
  'progress.steps': 'learner_id={learnerId}',
  'progress.list': 'course_id={courseId}',
  'progress.history': 'course_id={courseId}',
  'analytics.learners': 'start_date=2013-10-01&end_date=2014-06-30&course_id={courseId}&include_total=true',
  'analytics.atRisk': 'course_id={courseId}&reason=inactive,not_passed&stuck_below=40',
  'analytics.activity':
    'by=month&start_date=2013-10-01&end_date=2014-06-30&time_zone=Europe/London&course_id={courseId}',
  'analytics.grades': 'course_id={courseId}',
  'analytics.rows': 'table=courses',
  'analytics.report':
    'course_id={courseId}&start_date=2013-10-01&end_date=2014-06-30&time_zone=Europe/London',
  'analytics.statements': 'course_id={courseId}&learner_id={learnerId}&home_page=https://academy.example.org',
  'analytics.backfill': 'endpoint_id={recordStoreId}&start_date=2013-10-01&course_id={courseId}',
  'grades.list': 'course_id={courseId}&learner_id={learnerId}',
  'grades.report': 'learner_id={learnerId}',
  'calendars.list': 'course_id={courseId}',
  'keys.list': 'user_id={userId}',
  'grants.list': 'user_id={userId}',
  'endpoints.list': 'status=active',
  'messages.list': 'endpoint_id={endpointId}&status=pending,failed',
  'deliveries.list': 'lms_kind=moodle&status=unmatched,failed',
  'integrations.records': 'part=courses',
  'integrations.mappings': 'noun=course',
  'audit.list': 'action=course.updated,course.published&since=2026-03-01T00:00:00Z',
  'changes.list': 'since=2026-03-01T00:00:00Z',
  'changes.records': 'limit=2',
}

/** Bodies of the examples by operation id. */
export const bodies: Readonly<Record<string, object>> = {
  'courses.create': {
    externalId: 'AAA-2014J',
    title: 'Module AAA, presentation 2014J',
    description: 'Open University module AAA, started on 2014-10-01, 269 days long.',
    difficulty: 'intermediate',
    learningObjectives: ['Write an assignment that a tutor marks'],
    modules: [{ title: 'Block 1' }, { title: 'Block 2' }],
    assessmentCriteria: {
      passingScore: 40,
      moveOn: 'CompletedAndPassed',
      weights: [{ name: 'Tutor marked assessments', weight: 100 }],
    },
    tags: ['open-university'],
    language: 'en',
  },
  'courses.update': { durationMinutes: 9600, assessmentCriteria: { passingScore: 45 } },
  'lessons.create': {
    courseId: '{courseId}',
    externalId: 'AAA-2013J-1753',
    title: 'Second assignment',
    contentBlocks: [
      { type: 'markdown', title: 'What to do', body: 'Write **1,500 words** on the second block.' },
      { type: 'video', url: 'https://media.example.org/block-2.mp4', durationSeconds: 300 },
    ],
    assessments: [assignment],
  },
  'lessons.update': { status: 'draft', description: null },
  'users.create': {
    externalId: '65002',
    email: 'oulad-65002@example.org',
    role: 'student',
    profile: { timezone: 'Europe/London', learningPreferences: { pace: 'self_paced', languages: ['en'] } },
  },
  'users.batch': {
    items: [
      { externalId: '31604', email: 'oulad-31604@example.org' },
      { externalId: '11391', email: 'oulad-11391@example.org' },
    ],
    onExists: 'fail',
  },
  'users.update': { profile: { displayName: 'Learner 11391', learningPreferences: { captions: true } } },
  'users.updateProfile': { profile: { timezone: 'Europe/Vienna' } },
  'terms.create': {
    externalId: '2014J',
    name: 'October 2014',
    startDate: '2014-10-01',
    endDate: '2015-06-30',
  },
  'terms.batch': {
    items: [
      { externalId: '2013J', name: 'October 2013', startDate: '2013-10-01' },
      { externalId: '2014B', name: 'February 2014', startDate: '2014-02-01' },
    ],
    onExists: 'skip',
  },
  'terms.update': { endDate: '2013-09-30' },
  'enrollments.create': { courseId: '{courseId}', userId: '{userId}', role: 'instructor' },
  'enrollments.batch': {
    items: [{ courseId: '{courseId}', userId: '{learnerId}', enrolledAt: '2013-04-25T00:00:00Z' }],
    onExists: 'skip',
  },
  'enrollments.update': { status: 'inactive' },
  'groups.create': {
    externalId: 'AAA-2013J-2',
    name: 'AAA 2013J, second tutor group',
    courseId: '{courseId}',
  },
  'groups.batch': {
    items: [
      { externalId: '5a', name: 'Class 5a' },
      { externalId: '5b', name: 'Class 5b' },
    ],
    onExists: 'update',
  },
  'groups.update': { name: 'AAA 2013J, evening group' },
  'groups.batchMembers': {
    items: [
      { groupId: '{groupId}', userId: 'ext:28400' },
      { groupId: '{groupId}', userId: '{learnerId}' },
    ],
  },
  'progress.set': {
    courseId: '{courseId}',
    completionPercentage: 75,
    lastAccessed: '2014-01-10T13:00:00+01:00',
  },
  'progress.batch': {
    items: [
      {
        learnerId: 'ext:28400',
        courseId: '{courseId}',
        completionPercentage: 100,
        lastAccessed: '2014-01-30T00:00:00Z',
      },
      { learnerId: '{learnerId}', courseId: 'ext:BBB-2013J', completionPercentage: 20 },
    ],
  },
  'grades.set': {
    learnerId: '{learnerId}',
    courseId: '{courseId}',
    itemId: '1754',
    label: 'TMA 1754',
    scoreGiven: 84,
    scoreMaximum: 100,
    weight: 20,
    gradedAt: '2014-01-30T00:00:00Z',
  },
  'grades.batch': {
    items: [
      { learnerId: 'ext:28400', courseId: '{courseId}', itemId: '1754', scoreGiven: 17, scoreMaximum: 20 },
      { learnerId: '{learnerId}', courseId: 'ext:BBB-2013J', scoreGiven: 60 },
    ],
  },
  'calendars.create': { courseId: '{courseId}' },
  'keys.create': { name: 'nightly export', scopes: ['read'], expiresAt: '2027-01-01T00:00:00Z' },
  'apps.create': { name: 'Report reader', redirectUris: ['https://reports.example.org/oauth/callback'] },
  'endpoints.create': {
    url: 'https://lms.example.org/webhooks/academy',
    events: ['course.*', 'progress.completed'],
    description: 'Catalogue of the school',
  },
  'endpoints.update': { events: ['course.*'], description: null },
  'deliveries.replayAll': { lmsKind: 'moodle', limit: 10 },
  'integrations.set': {
    baseUrl: 'https://moodle.example.org',
    gradeToProgress: 'completed_on_pass',
    gradeItems: { '12': { name: 'TMA 1752', maximum: 20 } },
  },
  'integrations.write': {
    records: [
      {
        part: 'courses',
        externalId: 'AAA-2014J',
        title: 'Module AAA, presentation 2014J',
        status: 'published',
      },
      { part: 'enrollments', courseId: '5218', email: 'ada@school.example', role: 'learner' },
    ],
  },
  'integrations.map': { noun: 'user', externalKey: '15', reference: 'ext:28400' },
  'integrations.mapBatch': {
    items: [
      { noun: 'user', externalKey: '16', reference: '{learnerId}' },
      { noun: 'course', externalKey: '5', reference: 'ext:BBB-2013J' },
    ],
  },
  'changes.create': { command: 'users import', source: 'users.csv' },
  'changes.end': { state: 'completed' },
  'plans.create': { command: 'apply', source: 'academy.yaml' },
  'plans.addSteps': {
    steps: [
      { noun: 'course', action: 'create', record: { externalId: 'SEA-101', title: 'The sea' } },
      { noun: 'lesson', action: 'create', record: { courseId: 'ext:SEA-101', title: 'Tides' } },
    ],
  },
  'plans.carryOut': { isTrial: true },
  'undo.carryOut': { digest: '{undoDigest}' },
  'settings.update': { instructorAccess: 'all' },
  'leases.take': { id: '{leaseId}', holder: 'build-7, process 4711' },
}

/** Returns the example of an operation as a successful request, as in a manual. */
export function exampleOf({ id, method, path }: Operation, things: Things) {
  const query = queries[id]
  const known = id === 'integrations.write' ? { ...things, lmsKind: 'classroom' } : things
  const body = bodies[id]
  return {
    method,
    target: fillIn(query === undefined ? path : `${path}?${query}`, known),
    ...(body && { body: fillIn(JSON.stringify(body), things) }),
  }
}

/** Records of the examples, by name of the path parameter. */
export type Things = Readonly<Record<string, string>>

const data = await readExampleData()
const externalId = 'AAA-2013J'

/** Makes a record of each kind in the academy: a course of the example data, and two of its learners. */
export async function furnish(academy: TestAcademy, admin: Person): Promise<Things> {
  const { clock } = academy
  const term = await admin.post('/v1/terms', {
    externalId: '2013J',
    name: 'October 2013',
    startDate: '2013-10-01',
    endDate: '2014-06-27',
  })
  const unusedTerm = await admin.post('/v1/terms', {
    externalId: '2013B',
    name: 'February 2013',
    startDate: '2013-02-01',
    endDate: '2013-09-27',
  })
  const attributes = data.courses.find((course) => course.externalId === externalId)
  const course = await admin.post('/v1/courses', attributes)
  const courseId = course.body.id
  clock.advance(minute)
  const change = await admin.post('/v1/changes', { command: 'courses import', source: 'courses.csv' })
  const changeId = change.body.id
  const published = { status: 'published', language: 'en', termId: term.body.id }
  await admin.put(`/v1/courses/${courseId}`, published, { 'change-id': changeId })
  const lesson = await admin.post('/v1/lessons', {
    courseId,
    externalId: `${externalId}-1752`,
    title: 'First assignment',
    description: 'The first of three tutor marked assessments.',
    assessments: [{ type: 'assignment', title: 'TMA 1752', passingScore: 40, weight: 10 }],
  })
  const deleted = {
    course: await admin.post('/v1/courses', {
      externalId: 'AAA-2012B',
      title: 'Module AAA, presentation 2012B',
    }),
    lesson: await admin.post('/v1/lessons', { courseId, title: 'Third assignment' }),
  }
  await admin.delete(`/v1/courses/${deleted.course.body.id}`)
  await admin.delete(`/v1/lessons/${deleted.lesson.body.id}`)
  const ids: string[] = []
  for (const learner of ['28400', '11391']) {
    clock.advance(minute)
    ids.push(await enrol(academy, admin, courseId, learner))
  }
  const [, learnerId = ''] = ids
  const enrollment = await admin.get(`/v1/enrollments?user_id=${learnerId}`)
  clock.advance(minute)
  const group = await admin.post('/v1/groups', {
    externalId: 'AAA-2013J-1',
    name: 'AAA 2013J, first tutor group',
    courseId,
  })
  await admin.put(`/v1/groups/${group.body.id}/members/${learnerId}`)
  const deletedGroup = await admin.post('/v1/groups', { name: 'AAA 2013J, third tutor group', courseId })
  await admin.delete(`/v1/groups/${deletedGroup.body.id}`)
  clock.advance(minute)
  const calendar = await admin.post('/v1/calendars', { courseId })
  clock.advance(minute)
  const key = await admin.post('/v1/keys', { name: 'gradebook sync', userId: learnerId })
  clock.advance(minute)
  const app = await admin.post('/v1/apps', {
    name: 'Timetable',
    redirectUris: ['https://time.example.org/cb'],
  })
  const { clientId } = app.body
  clock.advance(minute)
  const endpoint = await admin.post('/v1/webhooks/endpoints', {
    url: 'https://grades.example.org/events',
    events: ['grade.updated', 'progress.*'],
  })
  const endpointId = endpoint.body.id
  const recordStore = await admin.post('/v1/webhooks/endpoints', {
    kind: 'xapi',
    url: 'https://lrs.example.org/xapi',
  })
  const message = await admin.post(`/v1/webhooks/endpoints/${endpointId}/test`)
  const lmsKind = 'moodle'
  const moodle = await connect(academy, admin, lmsKind, {
    gradeToProgress: 'none',
    baseUrl: 'https://moodle.example.org',
    accessToken: moodleToken,
  })
  await admin.put('/v1/integrations/classroom', googleIntegration)
  const delivery = await moodle.deliver(sample('moodle_local_webhooks.user_graded.composed'))
  clock.advance(minute)
  const plan = await admin.post('/v1/plans', { command: 'apply', source: 'academy.yaml' })
  const leaseId = 'apply-4711-on-build-7'
  await admin.put('/v1/apply-lease', { id: leaseId, holder: 'build-7, process 4711' })
  const mapping = await admin.put(`/v1/integrations/${lmsKind}/mappings`, {
    noun: 'course',
    externalKey: '4',
    reference: courseId,
  })
  return {
    courseId,
    termId: unusedTerm.body.id,
    courseTermId: term.body.id,
    version: '1',
    lessonId: lesson.body.id,
    deletedCourseId: deleted.course.body.id,
    deletedLessonId: deleted.lesson.body.id,
    userId: learnerId,
    learnerId,
    enrollmentId: enrollment.body.data[0].id,
    groupId: group.body.id,
    deletedGroupId: deletedGroup.body.id,
    gradeId: (await admin.get(`/v1/grades?learner_id=${learnerId}`)).body.data[0].id,
    calendarId: calendar.body.id,
    keyId: key.body.id,
    lmsKind,
    changeId,
    planId: plan.body.id,
    stepNumber: '0',
    undoDigest: (await admin.get(`/v1/undo/${changeId}`)).body.digest,
    leaseId,
    mappingId: mapping.body.id,
    clientId,
    endpointId,
    recordStoreId: recordStore.body.id,
    messageId: message.body.id,
    deliveryId: delivery.body.deliveryId,
    entryId: (await admin.get(`/v1/audit?subject_id=${courseId}&noun=course`)).body.data[0].id,
    grantId: (await createGrant(academy, { userId: learnerId, clientId })).id,
  }
}

/** Makes a learner of the example data, with their first two records of progress and grades; returns the id. */
async function enrol(
  academy: TestAcademy,
  admin: Person,
  courseId: string,
  learner: string,
): Promise<string> {
  const reference = `ext:${learner}`
  const { body: user } = await admin.post(
    '/v1/users',
    data.users.find((row) => row.externalId === learner),
  )
  await admin.post(
    '/v1/enrollments',
    data.enrollments.find(({ userId }) => userId === reference),
  )
  for (const { learnerId, ...step } of data.progress
    .filter((row) => row.learnerId === reference)
    .slice(0, 2)) {
    academy.clock.advance(minute)
    await admin.put(`/v1/learners/${user.id}/progress`, step)
  }
  for (const grade of data.grades.filter((row) => row.learnerId === reference).slice(0, 2)) {
    academy.clock.advance(minute)
    await academy.grade({ ...grade, learnerId: user.id, courseId })
  }
  return user.id
}

/** Replaces the names in a text by the ids of records. */
export function fillIn(text: string, things: Things): string {
  return text.replaceAll(/\{(\w+)\}/g, (name, thing) => things[thing] ?? name)
}
