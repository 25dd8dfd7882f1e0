import { expect } from 'vitest'
import type * as z from 'zod'
import { AppInput } from '../../src/contract/apps.ts'
import { CourseInput } from '../../src/contract/courses.ts'
import { EndpointInput } from '../../src/contract/endpoints.ts'
import { EnrollmentInput } from '../../src/contract/enrollments.ts'
import { GradeInput } from '../../src/contract/grades.ts'
import { GroupInput } from '../../src/contract/groups.ts'
import { MappingInput } from '../../src/contract/integrations.ts'
import { KeyInput } from '../../src/contract/keys.ts'
import { LessonInput } from '../../src/contract/lessons.ts'
import { ProgressInput } from '../../src/contract/progress.ts'
import { TermInput } from '../../src/contract/terms.ts'
import { UserInput } from '../../src/contract/users.ts'
import { fillIn, furnish } from '../contract/examples.ts'
import type { Answer, Person } from '../helpers/academy.ts'
import { testWithCopies } from '../helpers/academy-copies.ts'

interface Sample {
  readonly name: string
  readonly schema: z.ZodObject
  readonly path: string
  /** Minimal record, which is then changed; absent if that is impossible. */
  readonly least?: Readonly<Record<string, unknown>>
  /** Every field with a value other than its default; `{names}` stand for records that `furnish` made. */
  readonly whole: Readonly<Record<string, unknown>>
  /** Fields that its other fields exclude; another sample has them. */
  readonly excluded?: readonly string[]
  /** Fields that are accepted but never shown. */
  readonly hidden?: string
  /** True if a PUT to the path creates it instead of a POST. */
  readonly setByPut?: true
}

const all: readonly Sample[] = [
  {
    name: 'course',
    schema: CourseInput,
    path: '/v1/courses',
    least: { title: 'Logic' },
    whole: {
      externalId: 'bio-101',
      title: 'Marine Biology',
      description: 'Life in the sea',
      difficulty: 'expert',
      learningObjectives: ['Name ten fish'],
      modules: [{ title: 'Fish', description: 'With fins', order: 3 }],
      assessmentCriteria: { passingScore: 40, moveOn: 'Passed', weights: [{ name: 'Quiz', weight: 20 }] },
      adaptiveDifficulty: {
        enabled: true,
        minLevel: 'beginner',
        maxLevel: 'expert',
        raiseAtScore: 90,
        lowerAtScore: 40,
        window: 5,
      },
      progressTracking: { enabled: false, completionThreshold: 80 },
      tags: ['sea'],
      language: 'en-GB',
      durationMinutes: 600,
      termId: '{termId}',
      managedBy: 'term-plan',
      status: 'published',
    },
  },
  {
    name: 'term',
    schema: TermInput,
    path: '/v1/terms',
    least: { name: 'Hilary' },
    whole: {
      externalId: '2027S',
      name: 'Spring 2027',
      startDate: '2027-02-01',
      endDate: '2027-07-31',
      managedBy: 'term-plan',
    },
  },
  {
    name: 'lesson',
    schema: LessonInput,
    path: '/v1/lessons',
    least: { courseId: '{courseId}', title: 'Logic' },
    whole: {
      externalId: 'bio-101-1',
      courseId: '{otherCourseId}',
      moduleId: '{moduleId}',
      title: 'Fish',
      description: 'With fins',
      order: 7,
      durationMinutes: 45,
      dueAt: '2026-11-30T17:00:00.000Z',
      status: 'draft',
      learningObjectives: ['Name ten fish'],
      contentBlocks: [{ type: 'markdown', title: 'Fins', body: '# Fins' }],
      assessments: [{ type: 'quiz', title: 'Ten fish', scoreMaximum: 10 }],
      managedBy: 'term-plan',
    },
  },
  {
    name: 'user',
    schema: UserInput,
    path: '/v1/users',
    least: { email: 'grace@school.example' },
    whole: {
      externalId: 'sis-7',
      email: 'mary@school.example',
      username: 'mary',
      role: 'instructor',
      status: 'suspended',
      profile: { firstName: 'Mary', learningPreferences: { pace: 'fast' } },
      password: 'a password of hers',
      managedBy: 'term-plan',
    },
    hidden: 'password',
  },
  {
    name: 'enrolment',
    schema: EnrollmentInput,
    path: '/v1/enrollments',
    least: { courseId: '{otherCourseId}', userId: '{userId}', role: 'instructor' },
    whole: {
      courseId: '{otherCourseId}',
      userId: '{userId}',
      role: 'instructor',
      status: 'inactive',
      enrolledAt: '2026-01-31T09:30:00.000Z',
      managedBy: 'term-plan',
    },
  },
  {
    name: 'group',
    schema: GroupInput,
    path: '/v1/groups',
    least: { name: 'Class 5a' },
    whole: { externalId: '5b', name: 'Class 5b', courseId: '{otherCourseId}', managedBy: 'term-plan' },
  },
  {
    name: 'record of progress',
    setByPut: true,
    schema: ProgressInput,
    path: '/v1/learners/{userId}/progress',
    whole: {
      courseId: '{otherCourseId}',
      completionPercentage: 75,
      lastAccessed: '2026-01-31T09:30:00.000Z',
    },
  },
  {
    name: 'grade',
    setByPut: true,
    schema: GradeInput,
    hidden: 'extraCredit',
    path: '/v1/grades',
    whole: {
      learnerId: '{userId}',
      courseId: '{courseId}',
      itemId: 'exam',
      source: 'school',
      label: 'Exam',
      scoreGiven: 17,
      published: false,
      scoreMaximum: 20,
      weight: 60,
      extraCredit: false,
      gradedAt: '2026-01-31T09:30:00.000Z',
    },
  },
  {
    name: 'mapping',
    setByPut: true,
    schema: MappingInput,
    path: '/v1/integrations/canvas/mappings',
    whole: { noun: 'user', externalKey: '21070000000000048', reference: '{userId}' },
  },
  {
    name: 'API key',
    schema: KeyInput,
    path: '/v1/keys',
    whole: { name: 'export', userId: '{adminId}', scopes: ['write'], expiresAt: '2027-01-31T09:30:00.000Z' },
  },
  {
    name: 'webhook endpoint',
    schema: EndpointInput,
    path: '/v1/webhooks/endpoints',
    hidden: 'url',
    least: { kind: 'teams', url: 'https://lms.example/hooks' },
    whole: {
      kind: 'teams',
      url: 'https://other.example/hooks?school=7',
      chat: {
        schedule: 'daily',
        digestHour: 17,
        digestTimezone: 'Europe/Vienna',
        courseIds: ['{courseId}'],
        atRiskOnly: true,
        learnerNames: true,
      },
      events: ['course.*', 'progress.completed'],
      description: 'Catalogue',
      status: 'disabled',
      expiresAt: '2027-01-31T09:30:00.000Z',
    },
    excluded: ['xapi', 'password'],
  },
  {
    name: 'learning record store',
    schema: EndpointInput,
    path: '/v1/webhooks/endpoints',
    hidden: 'password',
    least: { kind: 'xapi', url: 'https://lrs.example/xapi' },
    whole: {
      kind: 'xapi',
      url: 'https://lrs.example/store',
      xapi: {
        xapiVersion: '2.0.0',
        actor: 'external-id',
        homePage: 'https://academy.example',
        username: 'academy',
        tokenUrl: 'https://id.example/token',
        scope: 'statements/write',
      },
      password: 'secret of the academy',
      events: ['progress.completed'],
      description: 'Statements',
      status: 'disabled',
      expiresAt: '2027-01-31T09:30:00.000Z',
    },
    excluded: ['chat'],
  },
  {
    name: 'application',
    schema: AppInput,
    path: '/v1/apps',
    whole: { name: 'Timetable', redirectUris: ['https://time.example/cb'], public: true },
    excluded: ['machineScopes'],
  },
  {
    name: 'application that acts for itself',
    schema: AppInput,
    path: '/v1/apps',
    whole: { name: 'Roster', redirectUris: ['https://time.example/cb'], machineScopes: ['roster.readonly'] },
    excluded: ['public'],
  },
]

/** Academies that have the records that samples name. */
const test = testWithCopies(async (admin, academy) => {
  const course = await admin.post('/v1/courses', { title: 'Rhetoric', modules: [{ title: 'Invention' }] })
  return {
    ...(await furnish(academy, admin)),
    otherCourseId: course.body.id,
    moduleId: course.body.modules[0].id,
    adminId: admin.id,
  }
})

/** Puts the ids of records into a sample. */
function placed({ path, whole, least, hidden = '' }: Sample, things: Readonly<Record<string, string>>) {
  const put = (value: unknown) => JSON.parse(fillIn(JSON.stringify(value ?? null), things))
  const { [hidden]: _, ...shown } = put(whole)
  return { path: fillIn(path, things), whole: put(whole), least: put(least), shown }
}

/** Returns the record in the list at this path that equals a response. */
async function listed(admin: Person, path: string, { body }: Answer) {
  const { data } = (await admin.get(path)).body
  const key = ['id', 'clientId', 'courseId'].find((name) => Object.hasOwn(body, name)) ?? ''
  return data.find((item: Record<string, unknown>) => item[key] === body[key])
}

test.for(all)(
  'the sample of a $name has every field of the contract, and no default',
  ({ schema, whole, excluded = [] }) => {
    expect([...Object.keys(whole), ...excluded].sort()).toEqual(Object.keys(schema.shape).sort())
    for (const [field, value] of Object.entries(whole)) {
      expect((schema.shape[field] as z.ZodType).safeParse(undefined).data, field).not.toEqual(value)
    }
  },
)

test.for(all)('every field of a $name is stored when it is created', async (sample, { admin, records }) => {
  const { path, whole, shown } = placed(sample, records)
  const answer = sample.setByPut ? await admin.put(path, whole) : await admin.post(path, whole)
  expect(answer.body).toMatchObject(shown)
  expect(await listed(admin, path, answer)).toMatchObject(shown)
})

test.for(all.filter(({ least }) => least))(
  'every field of a $name that can be changed is stored when it is changed',
  async (sample, { admin, records }) => {
    const { path, whole, least, shown } = placed(sample, records)
    const made = await admin.post(path, least)
    expect((await admin.put(`${path}/${made.body.id}`, whole)).status).toBe(200)
    expect(await listed(admin, path, made)).toMatchObject(shown)
  },
)
