import type { Person, TestAcademy } from '../helpers/academy.ts'
import { giveGrant } from '../helpers/grant.ts'

/** One request that succeeds, as it is written in a manual: `{names}` stand for what `furnish` made. */
export interface Example {
  readonly request: string
  readonly body?: unknown
}

/** An example for each operation, by the operation's id. */
export const examples: Readonly<Record<string, Example>> = {
  'courses.list': { request: 'GET /v1/courses?status=published&sort=title&include_total=true' },
  'courses.get': { request: 'GET /v1/courses/{courseId}' },
  'courses.create': {
    request: 'POST /v1/courses',
    body: {
      title: 'Rhetoric',
      description: 'How to speak in public',
      difficulty: 'advanced',
      learningObjectives: ['Hold a speech'],
      modules: [{ title: 'Invention' }, { title: 'Delivery' }],
      assessmentCriteria: { moveOn: 'Passed', weights: [{ name: 'Speech', weight: 100 }] },
      adaptiveDifficulty: { enabled: true, minLevel: 'beginner', maxLevel: 'expert' },
      tags: ['speech'],
      language: 'en',
      durationMinutes: 600,
    },
  },
  'courses.update': { request: 'PUT /v1/courses/{courseId}', body: { difficulty: 'expert' } },
  'courses.delete': { request: 'DELETE /v1/courses/{courseId}?force=true' },
  'courses.versions': { request: 'GET /v1/courses/{courseId}/versions' },
  'courses.version': { request: 'GET /v1/courses/{courseId}/versions/{version}' },
  'courses.diff': { request: 'GET /v1/courses/{courseId}/versions/{version}/diff' },
  'courses.restore': { request: 'POST /v1/courses/{courseId}/versions/{version}/restore' },

  'lessons.list': { request: 'GET /v1/lessons?course_id={courseId}' },
  'lessons.get': { request: 'GET /v1/lessons/{lessonId}' },
  'lessons.create': {
    request: 'POST /v1/lessons',
    body: {
      courseId: '{courseId}',
      title: 'Fallacies',
      contentBlocks: [
        { type: 'markdown', body: '# Ad hominem' },
        { type: 'video', url: 'https://media.example/fallacies.mp4', durationSeconds: 300 },
      ],
      assessments: [
        {
          type: 'quiz',
          title: 'Name it',
          questions: [{ type: 'true_false', prompt: 'Is it sound?', answer: false }],
        },
      ],
    },
  },
  'lessons.update': { request: 'PUT /v1/lessons/{lessonId}', body: { status: 'draft' } },
  'lessons.delete': { request: 'DELETE /v1/lessons/{lessonId}' },

  'users.list': { request: 'GET /v1/users?role=learner&q=ada' },
  'users.get': { request: 'GET /v1/users/{userId}' },
  'users.create': {
    request: 'POST /v1/users',
    body: {
      email: 'grace@school.example',
      role: 'teacher',
      profile: { firstName: 'Grace', learningPreferences: { pace: 'fast', languages: ['en', 'de-AT'] } },
    },
  },
  'users.batch': { request: 'POST /v1/users/batch', body: { items: [{ email: 'alan@school.example' }, {}] } },
  'users.update': { request: 'PUT /v1/users/{userId}', body: { profile: { displayName: 'Ada L.' } } },
  'users.delete': { request: 'DELETE /v1/users/{userId}?erase=true' },
  'users.profile': { request: 'GET /v1/user/profile' },
  'users.updateProfile': {
    request: 'PUT /v1/user/profile',
    body: { profile: { timezone: 'Europe/Vienna' } },
  },

  'enrollments.list': { request: 'GET /v1/enrollments?user_id={learnerId}&status=active,completed' },
  'enrollments.get': { request: 'GET /v1/enrollments/{enrollmentId}' },
  'enrollments.create': {
    request: 'POST /v1/enrollments',
    body: { courseId: '{courseId}', userId: '{userId}', role: 'instructor' },
  },
  'enrollments.batch': {
    request: 'POST /v1/enrollments/batch',
    body: { items: [{ courseId: '{courseId}', userId: '{learnerId}' }], onExists: 'skip' },
  },
  'enrollments.update': { request: 'PUT /v1/enrollments/{enrollmentId}', body: { status: 'inactive' } },
  'enrollments.delete': { request: 'DELETE /v1/enrollments/{enrollmentId}' },

  'progress.list': { request: 'GET /v1/learners/{learnerId}/progress?course_id={courseId}' },
  'progress.set': {
    request: 'PUT /v1/learners/{learnerId}/progress',
    body: { courseId: '{courseId}', completionPercentage: 75, lastAccessed: '2026-03-01T13:00:00+01:00' },
  },
  'progress.history': { request: 'GET /v1/learners/{learnerId}/progress/history?course_id={courseId}' },
  'progress.batch': {
    request: 'POST /v1/progress/batch',
    body: { items: [{ learnerId: '{learnerId}', courseId: '{courseId}', completionPercentage: 100 }] },
  },

  'analytics.learners': {
    request: 'GET /v1/analytics/learners?start_date=2026-01-01&end_date=2026-12-31&include_total=true',
  },

  'keys.list': { request: 'GET /v1/keys?user_id={userId}' },
  'keys.create': {
    request: 'POST /v1/keys',
    body: { name: 'nightly export', scopes: ['read'], expiresAt: '2027-01-01T00:00:00Z' },
  },
  'keys.revoke': { request: 'DELETE /v1/keys/{keyId}' },

  'apps.list': { request: 'GET /v1/apps?include_total=true' },
  'apps.create': {
    request: 'POST /v1/apps',
    body: { name: 'Report reader', redirectUris: ['https://reports.school.example/oauth/callback'] },
  },
  'apps.delete': { request: 'DELETE /v1/apps/{clientId}' },

  'grants.list': { request: 'GET /v1/grants?user_id={userId}' },
  'grants.revoke': { request: 'DELETE /v1/grants/{grantId}' },

  'service.health': { request: 'GET /health' },
  'service.openapi': { request: 'GET /v1/openapi.json' },
}

/** The things that the examples are about, by the name of the path parameter. */
export type Things = Readonly<Record<string, string>>

/** Makes one of each thing in the academy. */
export async function furnish(academy: TestAcademy, admin: Person): Promise<Things> {
  const course = await admin.post('/v1/courses', { title: 'Logic', status: 'published' })
  const courseId = course.body.id
  await admin.put(`/v1/courses/${courseId}`, { title: 'Formal logic', tags: ['reason'] })
  const lesson = await admin.post('/v1/lessons', { courseId, title: 'Syllogisms' })
  const user = await admin.post('/v1/users', { email: 'ada@school.example', profile: { firstName: 'Ada' } })
  const learnerId = user.body.id
  const record = { courseId, completionPercentage: 40 }
  await admin.put(`/v1/learners/${learnerId}/progress`, record)
  academy.grade({ learnerId, courseId, scoreGiven: 81.5 })
  const enrollment = await admin.get(`/v1/enrollments?user_id=${learnerId}`)
  const key = await admin.post('/v1/keys', { name: 'spare', userId: learnerId })
  const app = await admin.post('/v1/apps', { name: 'Timetable', redirectUris: ['https://time.example/cb'] })
  const { clientId } = app.body
  return {
    courseId,
    version: '1',
    lessonId: lesson.body.id,
    userId: learnerId,
    learnerId,
    enrollmentId: enrollment.body.data[0].id,
    keyId: key.body.id,
    clientId,
    grantId: giveGrant(academy, { userId: learnerId, clientId }).id,
  }
}

/** A text with the things put in for their names. */
export function filled(text: string, things: Things): string {
  return text.replaceAll(/\{(\w+)\}/g, (name, thing) => things[thing] ?? name)
}
