import { readExampleData } from '../../src/cli/local-server/example-data.ts'
import { googleIntegration } from '../helpers/fake-classroom.ts'
import { moodleToken } from '../helpers/fake-moodle.ts'
import { connect } from '../helpers/lms.ts'
import { createGrant } from '../helpers/signed-in.ts'
import { minute, type Person, type TestAcademy } from '../helpers/test-academy.ts'
import { sample } from '../lms/samples.ts'

/** A successful request as in a manual; `{names}` stand for records that `furnish` made. */
export interface Example {
  readonly request: string
  readonly body?: unknown
  /** Names with another value than the record that `furnish` made. */
  readonly other?: Readonly<Record<string, string>>
}

const assignment = {
  type: 'assignment',
  title: 'TMA 1753',
  passingScore: 40,
  weight: 20,
  questions: [{ type: 'essay', prompt: 'Discuss the second block of the module', points: 100 }],
}

/** Examples by operation id. */
export const examples: Readonly<Record<string, Example>> = {
  'courses.list': { request: 'GET /v1/courses?status=published,archived&sort=title&include_total=true' },
  'courses.get': { request: 'GET /v1/courses/{courseId}' },
  'courses.create': {
    request: 'POST /v1/courses',
    body: {
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
  },
  'courses.update': {
    request: 'PUT /v1/courses/{courseId}',
    body: { durationMinutes: 9600, assessmentCriteria: { passingScore: 45 } },
  },
  'courses.delete': { request: 'DELETE /v1/courses/{courseId}?force=true' },
  'courses.versions': { request: 'GET /v1/courses/{courseId}/versions' },
  'courses.version': { request: 'GET /v1/courses/{courseId}/versions/{version}' },
  'courses.diff': { request: 'GET /v1/courses/{courseId}/versions/{version}/diff' },
  'courses.restore': { request: 'POST /v1/courses/{courseId}/versions/{version}/restore' },

  'courses.listDeleted': { request: 'GET /v1/deleted-courses' },
  'courses.restoreDeleted': { request: 'POST /v1/deleted-courses/{deletedCourseId}/restore' },

  'lessons.list': { request: 'GET /v1/lessons?course_id={courseId}&status=published' },
  'lessons.get': { request: 'GET /v1/lessons/{lessonId}' },
  'lessons.create': {
    request: 'POST /v1/lessons',
    body: {
      courseId: '{courseId}',
      externalId: 'AAA-2013J-1753',
      title: 'Second assignment',
      contentBlocks: [
        { type: 'markdown', title: 'What to do', body: 'Write **1,500 words** on the second block.' },
        { type: 'video', url: 'https://media.example.org/block-2.mp4', durationSeconds: 300 },
      ],
      assessments: [assignment],
    },
  },
  'lessons.update': { request: 'PUT /v1/lessons/{lessonId}', body: { status: 'draft', description: null } },
  'lessons.delete': { request: 'DELETE /v1/lessons/{lessonId}' },
  'lessons.versions': { request: 'GET /v1/lessons/{lessonId}/versions' },
  'lessons.version': { request: 'GET /v1/lessons/{lessonId}/versions/{version}' },
  'lessons.diff': { request: 'GET /v1/lessons/{lessonId}/versions/{version}/diff' },
  'lessons.restore': { request: 'POST /v1/lessons/{lessonId}/versions/{version}/restore' },
  'lessons.listDeleted': { request: 'GET /v1/deleted-lessons?course_id={courseId}' },
  'lessons.restoreDeleted': { request: 'POST /v1/deleted-lessons/{deletedLessonId}/restore' },

  'users.list': { request: 'GET /v1/users?role=learner&q=oulad' },
  'users.get': { request: 'GET /v1/users/{userId}' },
  'users.create': {
    request: 'POST /v1/users',
    body: {
      externalId: '65002',
      email: 'oulad-65002@example.org',
      role: 'student',
      profile: { timezone: 'Europe/London', learningPreferences: { pace: 'self_paced', languages: ['en'] } },
    },
  },
  'users.batch': {
    request: 'POST /v1/users/batch',
    body: {
      items: [
        { externalId: '31604', email: 'oulad-31604@example.org' },
        { externalId: '11391', email: 'oulad-11391@example.org' },
      ],
      onExists: 'fail',
    },
  },
  'users.update': {
    request: 'PUT /v1/users/{userId}',
    body: { profile: { displayName: 'Learner 11391', learningPreferences: { captions: true } } },
  },
  'users.delete': { request: 'DELETE /v1/users/{userId}?erase=true' },
  'users.data': { request: 'GET /v1/users/{userId}/data' },
  'users.profile': { request: 'GET /v1/user/profile' },
  'users.updateProfile': {
    request: 'PUT /v1/user/profile',
    body: { profile: { timezone: 'Europe/Vienna' } },
  },

  'terms.list': { request: 'GET /v1/terms?sort=startDate' },
  'terms.get': { request: 'GET /v1/terms/{termId}' },
  'terms.create': {
    request: 'POST /v1/terms',
    body: { externalId: '2014J', name: 'October 2014', startDate: '2014-10-01', endDate: '2015-06-30' },
  },
  'terms.batch': {
    request: 'POST /v1/terms/batch',
    body: {
      items: [
        { externalId: '2013J', name: 'October 2013', startDate: '2013-10-01' },
        { externalId: '2014B', name: 'February 2014', startDate: '2014-02-01' },
      ],
      onExists: 'skip',
    },
  },
  'terms.update': { request: 'PUT /v1/terms/{termId}', body: { endDate: '2013-09-30' } },
  'terms.delete': { request: 'DELETE /v1/terms/{termId}' },

  'enrollments.list': { request: 'GET /v1/enrollments?user_id={learnerId}&status=active,completed' },
  'enrollments.get': { request: 'GET /v1/enrollments/{enrollmentId}' },
  'enrollments.create': {
    request: 'POST /v1/enrollments',
    body: { courseId: '{courseId}', userId: '{userId}', role: 'instructor' },
  },
  'enrollments.batch': {
    request: 'POST /v1/enrollments/batch',
    body: {
      items: [{ courseId: '{courseId}', userId: '{learnerId}', enrolledAt: '2013-04-25T00:00:00Z' }],
      onExists: 'skip',
    },
  },
  'enrollments.update': { request: 'PUT /v1/enrollments/{enrollmentId}', body: { status: 'inactive' } },
  'enrollments.delete': { request: 'DELETE /v1/enrollments/{enrollmentId}' },

  'groups.list': { request: 'GET /v1/groups?course_id={courseId}&user_id={learnerId}' },
  'groups.get': { request: 'GET /v1/groups/{groupId}' },
  'groups.create': {
    request: 'POST /v1/groups',
    body: { externalId: 'AAA-2013J-2', name: 'AAA 2013J, second tutor group', courseId: '{courseId}' },
  },
  'groups.batch': {
    request: 'POST /v1/groups/batch',
    body: {
      items: [
        { externalId: '5a', name: 'Class 5a' },
        { externalId: '5b', name: 'Class 5b' },
      ],
      onExists: 'update',
    },
  },
  'groups.update': { request: 'PUT /v1/groups/{groupId}', body: { name: 'AAA 2013J, evening group' } },
  'groups.delete': { request: 'DELETE /v1/groups/{groupId}' },
  'groups.listDeleted': { request: 'GET /v1/deleted-groups?course_id={courseId}' },
  'groups.restoreDeleted': { request: 'POST /v1/deleted-groups/{deletedGroupId}/restore' },
  'groups.members': { request: 'GET /v1/groups/{groupId}/members' },
  'groups.addMember': { request: 'PUT /v1/groups/{groupId}/members/{userId}' },
  'groups.removeMember': { request: 'DELETE /v1/groups/{groupId}/members/{userId}' },
  'groups.memberships': { request: 'GET /v1/memberships?group_id={groupId}' },
  'groups.batchMembers': {
    request: 'POST /v1/memberships/batch',
    body: {
      items: [
        { groupId: '{groupId}', userId: 'ext:28400' },
        { groupId: '{groupId}', userId: '{learnerId}' },
      ],
    },
  },

  'progress.all': { request: 'GET /v1/progress?course_id={courseId}&updated_since=2014-01-01T00:00:00Z' },
  'progress.steps': { request: 'GET /v1/progress/history?learner_id={learnerId}' },
  'progress.list': { request: 'GET /v1/learners/{learnerId}/progress?course_id={courseId}' },
  'progress.set': {
    request: 'PUT /v1/learners/{learnerId}/progress',
    body: { courseId: '{courseId}', completionPercentage: 75, lastAccessed: '2014-01-10T13:00:00+01:00' },
  },
  'progress.history': { request: 'GET /v1/learners/{learnerId}/progress/history?course_id={courseId}' },
  'progress.batch': {
    request: 'POST /v1/progress/batch',
    body: {
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
  },

  'analytics.learners': {
    request:
      'GET /v1/analytics/learners?start_date=2013-10-01&end_date=2014-06-30&course_id={courseId}&include_total=true',
  },

  'analytics.atRisk': {
    request: 'GET /v1/analytics/at-risk?course_id={courseId}&reason=inactive,not_passed&stuck_below=40',
  },

  'analytics.activity': {
    request:
      'GET /v1/analytics/activity?by=month&start_date=2013-10-01&end_date=2014-06-30&time_zone=Europe/London&course_id={courseId}',
  },

  'analytics.grades': { request: 'GET /v1/analytics/grades?course_id={courseId}' },
  'analytics.rows': { request: 'GET /v1/analytics/rows?table=courses' },
  'analytics.changes': { request: 'GET /v1/analytics/changes' },
  'analytics.learnerChanges': { request: 'GET /v1/analytics/learners/changes?course_id={courseId}' },

  'analytics.report': {
    request:
      'GET /v1/analytics/report?course_id={courseId}&start_date=2013-10-01&end_date=2014-06-30&time_zone=Europe/London',
  },

  'analytics.statements': {
    request:
      'GET /v1/analytics/statements?course_id={courseId}&learner_id={learnerId}&home_page=https://academy.example.org',
  },

  'analytics.backfill': {
    request:
      'POST /v1/analytics/statements/backfill?endpoint_id={recordStoreId}&start_date=2013-10-01&course_id={courseId}',
  },

  'grades.list': { request: 'GET /v1/grades?course_id={courseId}&learner_id={learnerId}' },
  'grades.get': { request: 'GET /v1/grades/{gradeId}' },
  'grades.set': {
    request: 'PUT /v1/grades',
    body: {
      learnerId: '{learnerId}',
      courseId: '{courseId}',
      itemId: '1754',
      label: 'TMA 1754',
      scoreGiven: 84,
      scoreMaximum: 100,
      weight: 20,
      gradedAt: '2014-01-30T00:00:00Z',
    },
  },
  'grades.delete': { request: 'DELETE /v1/grades/{gradeId}' },
  'grades.history': { request: 'GET /v1/grades/{gradeId}/history' },
  'grades.report': { request: 'GET /v1/gradebooks/{courseId}?learner_id={learnerId}' },
  'grades.batch': {
    request: 'POST /v1/grades/batch',
    body: {
      items: [
        { learnerId: 'ext:28400', courseId: '{courseId}', itemId: '1754', scoreGiven: 17, scoreMaximum: 20 },
        { learnerId: '{learnerId}', courseId: 'ext:BBB-2013J', scoreGiven: 60 },
      ],
    },
  },

  'calendars.list': { request: 'GET /v1/calendars?course_id={courseId}' },
  'calendars.create': { request: 'POST /v1/calendars', body: { courseId: '{courseId}' } },
  'calendars.revoke': { request: 'DELETE /v1/calendars/{calendarId}' },

  'keys.list': { request: 'GET /v1/keys?user_id={userId}' },
  'keys.create': {
    request: 'POST /v1/keys',
    body: { name: 'nightly export', scopes: ['read'], expiresAt: '2027-01-01T00:00:00Z' },
  },
  'keys.revoke': { request: 'DELETE /v1/keys/{keyId}' },

  'apps.list': { request: 'GET /v1/apps' },
  'apps.create': {
    request: 'POST /v1/apps',
    body: { name: 'Report reader', redirectUris: ['https://reports.example.org/oauth/callback'] },
  },
  'apps.delete': { request: 'DELETE /v1/apps/{clientId}' },

  'grants.list': { request: 'GET /v1/grants?user_id={userId}' },
  'grants.revoke': { request: 'DELETE /v1/grants/{grantId}' },

  'endpoints.list': { request: 'GET /v1/webhooks/endpoints?status=active' },
  'endpoints.get': { request: 'GET /v1/webhooks/endpoints/{endpointId}' },
  'endpoints.create': {
    request: 'POST /v1/webhooks/endpoints',
    body: {
      url: 'https://lms.example.org/webhooks/academy',
      events: ['course.*', 'progress.completed'],
      description: 'Catalogue of the school',
    },
  },
  'endpoints.update': {
    request: 'PUT /v1/webhooks/endpoints/{endpointId}',
    body: { events: ['course.*'], description: null },
  },
  'endpoints.delete': { request: 'DELETE /v1/webhooks/endpoints/{endpointId}' },
  'endpoints.rotate': { request: 'POST /v1/webhooks/endpoints/{endpointId}/rotate' },
  'endpoints.test': { request: 'POST /v1/webhooks/endpoints/{endpointId}/test' },

  'messages.list': { request: 'GET /v1/webhooks/messages?endpoint_id={endpointId}&status=pending,failed' },
  'messages.get': { request: 'GET /v1/webhooks/messages/{messageId}' },
  'messages.resend': { request: 'POST /v1/webhooks/messages/{messageId}/resend' },
  'deliveries.list': { request: 'GET /v1/webhooks/deliveries?lms_kind=moodle&status=unmatched,failed' },
  'deliveries.get': { request: 'GET /v1/webhooks/deliveries/{deliveryId}' },
  'deliveries.replay': { request: 'POST /v1/webhooks/deliveries/{deliveryId}/replay' },
  'deliveries.replayAll': {
    request: 'POST /v1/webhooks/deliveries/replay',
    body: { lmsKind: 'moodle', limit: 10 },
  },
  'integrations.list': { request: 'GET /v1/integrations' },
  'integrations.get': { request: 'GET /v1/integrations/{lmsKind}' },
  'integrations.set': {
    request: 'PUT /v1/integrations/{lmsKind}',
    body: {
      baseUrl: 'https://moodle.example.org',
      gradeToProgress: 'completed_on_pass',
      gradeItems: { '12': { name: 'TMA 1752', maximum: 20 } },
    },
  },
  'integrations.remove': { request: 'DELETE /v1/integrations/{lmsKind}' },
  'integrations.test': { request: 'POST /v1/integrations/{lmsKind}/test' },
  'integrations.records': { request: 'GET /v1/integrations/{lmsKind}/records?part=courses' },
  'integrations.write': {
    request: 'POST /v1/integrations/{lmsKind}/records',
    other: { lmsKind: 'classroom' },
    body: {
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
  },
  'integrations.mappings': { request: 'GET /v1/integrations/{lmsKind}/mappings?noun=course' },
  'integrations.mapping': { request: 'GET /v1/integrations/{lmsKind}/mappings/{mappingId}' },
  'integrations.map': {
    request: 'PUT /v1/integrations/{lmsKind}/mappings',
    body: { noun: 'user', externalKey: '15', reference: 'ext:28400' },
  },
  'integrations.mapBatch': {
    request: 'POST /v1/integrations/{lmsKind}/mappings/batch',
    body: {
      items: [
        { noun: 'user', externalKey: '16', reference: '{learnerId}' },
        { noun: 'course', externalKey: '5', reference: 'ext:BBB-2013J' },
      ],
    },
  },
  'integrations.unmap': { request: 'DELETE /v1/integrations/{lmsKind}/mappings/{mappingId}' },

  'audit.list': {
    request: 'GET /v1/audit?action=course.updated,course.published&since=2026-03-01T00:00:00Z',
  },
  'audit.get': { request: 'GET /v1/audit/{entryId}' },

  'changes.list': { request: 'GET /v1/changes?since=2026-03-01T00:00:00Z' },
  'changes.create': {
    request: 'POST /v1/changes',
    body: { command: 'users import', source: 'users.csv' },
  },
  'changes.get': { request: 'GET /v1/changes/{changeId}' },
  'changes.records': { request: 'GET /v1/changes/{changeId}/records?limit=2' },
  'changes.end': { request: 'POST /v1/changes/{changeId}/end', body: { state: 'completed' } },
  'plans.create': { request: 'POST /v1/plans', body: { command: 'apply', source: 'academy.yaml' } },
  'plans.get': { request: 'GET /v1/plans/{planId}' },
  'plans.delete': { request: 'DELETE /v1/plans/{planId}' },
  'plans.addSteps': {
    request: 'PUT /v1/plans/{planId}/steps/{stepNumber}',
    body: {
      steps: [
        { noun: 'course', action: 'create', record: { externalId: 'SEA-101', title: 'The sea' } },
        { noun: 'lesson', action: 'create', record: { courseId: 'ext:SEA-101', title: 'Tides' } },
      ],
    },
  },
  'plans.carryOut': { request: 'POST /v1/plans/{planId}/carry-out', body: { isTrial: true } },
  'undo.plan': { request: 'GET /v1/undo/{changeId}' },
  'undo.carryOut': { request: 'POST /v1/undo/{changeId}', body: { digest: '{undoDigest}' } },
  'settings.get': { request: 'GET /v1/settings' },
  'settings.update': { request: 'PUT /v1/settings', body: { instructorAccess: 'all' } },

  'leases.take': {
    request: 'PUT /v1/apply-lease',
    body: { id: '{leaseId}', holder: 'build-7, process 4711' },
  },
  'leases.release': { request: 'DELETE /v1/apply-lease/{leaseId}' },

  'service.health': { request: 'GET /health' },
  'service.ready': { request: 'GET /ready' },
  'service.openapi': { request: 'GET /v1/openapi.json' },
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
