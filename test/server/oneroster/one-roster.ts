import { expect } from 'vitest'
import * as z from 'zod'
import type { MachineScope } from '../../../src/contract/constants.ts'
import { machineScopes } from '../../../src/contract/constants.ts'
import {
  type Answer,
  test as base,
  type Caller,
  type Person,
  type TestAcademy,
} from '../../helpers/academy.ts'
import { testWithShared } from '../../helpers/shared-academy.ts'
import { openFlow, register } from '../oauth/flow.ts'

/** Base paths of OneRoster 1.2. */
export const rostering = '/ims/oneroster/rostering/v1p2'
export const gradebook = '/ims/oneroster/gradebook/v1p2'

/** Registers an application with these scopes, and returns it as a client with a token. */
export async function openClient(
  academy: TestAcademy,
  scopes: readonly MachineScope[] = machineScopes,
): Promise<Caller & { readonly clientId: string }> {
  const { clientId, clientSecret } = await register(academy, { machineScopes: [...scopes] })
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
  const form = { grant_type: 'client_credentials' }
  const { send } = openFlow(academy)
  const { body } = await send('/oauth/token', form, { authorization: `Basic ${basic}` })
  return { ...academy.bearer(`Bearer ${body.access_token}`), clientId }
}

/** A school: two terms, three courses of which one has no term, a teacher and three learners. */
export async function makeSchool(admin: Person): Promise<void> {
  const put = async (path: string, body: object) => {
    const answer = await admin.post(path, body)
    expect(answer.status, answer.text).toBe(201)
    return answer.body
  }
  await put('/v1/terms', { externalId: 'T1', name: 'Autumn', startDate: '2025-09-01', endDate: '2026-01-31' })
  await put('/v1/terms', { externalId: 'T2', name: 'Open' })
  await put('/v1/courses', {
    ...{ externalId: 'BIO', title: 'Biology', termId: 'ext:T1' },
    assessmentCriteria: {
      weights: [
        { name: 'Exam', weight: 60 },
        { name: 'Essay', weight: 40 },
      ],
    },
  })
  await put('/v1/courses', { externalId: 'ART', title: 'Art' })
  await put('/v1/courses', { externalId: 'OLD', title: 'Latin', termId: 'ext:T1' })
  const people = [
    [
      'u1',
      'ada@b.example',
      'learner',
      { firstName: 'Ada', lastName: 'Lovelace', displayName: 'Countess Ada' },
    ],
    ['u2', 'bob@b.example', 'instructor', { firstName: 'Bob', lastName: "O'Neil" }],
    ['u3', 'cy@b.example', 'learner', {}],
    ['u4', 'dee@b.example', 'learner', { displayName: 'Dee Dee' }],
  ] as const
  for (const [externalId, email, role, profile] of people) {
    await put('/v1/users', { externalId, email, role, profile })
  }
  for (const [courseId, userId, role] of [
    ['ext:BIO', 'ext:u1', 'learner'],
    ['ext:BIO', 'ext:u2', 'instructor'],
    ['ext:BIO', 'ext:u3', 'learner'],
    ['ext:ART', 'ext:u4', 'learner'],
    ['ext:OLD', 'ext:u1', 'learner'],
  ]) {
    await put('/v1/enrollments', { courseId, userId, role })
  }
}

/** A vitest test with a school, and a client that may do everything. */
export const test = base.extend<{ client: Caller & { readonly clientId: string } }>({
  client: async ({ academy, admin }, use) => {
    await makeSchool(admin)
    await use(await openClient(academy))
  },
})

/** The same for tests that only read: they share it. */
export const readingTest = testWithShared(async (admin, academy) => {
  await makeSchool(admin)
  return openClient(academy)
}).extend('client', ({ records }) => records)

/** Values of a field in the records of an answer. */
export function valuesOf({ body, text }: Answer, plural: string, field = 'sourcedId'): unknown[] {
  const records = body[plural]
  expect(Array.isArray(records), text).toBe(true)
  return records.map((record: Record<string, unknown>) => record[field])
}

// What OneRoster 1.2 requires of each record. Written by us from the documents of 1EdTech
// (onerosterv1p2rostersservice_openapi3_v1p0.json, 1EdTech/oneroster-bootcamp@13f31e7), whose licence does not allow a copy; for
// the gradebook after onerosterv1p2gradebookservice_openapi3_v1p0.json, as AntonOfTheWoods/conform-ed@703a8e9
// transcribes it (packages/contracts/src/oneroster/v1_2/or_v1p2_gradebook_service_schema.ts).

const time = z.iso.datetime()
const reference = (type: string) =>
  z.strictObject({ href: z.url(), sourcedId: z.string().min(1), type: z.literal(type) })
const common = {
  sourcedId: z.string().min(1),
  status: z.enum(['active', 'tobedeleted']),
  dateLastModified: time,
}
const flag = z.enum(['true', 'false'])
const org = reference('org')
const session = reference('academicSession')

/** Schema of the records of each collection. */
export const schemas: Readonly<Record<string, z.ZodType>> = {
  orgs: z.strictObject({
    ...common,
    ...{
      name: z.string(),
      identifier: z.string(),
      type: z.enum(['department', 'district', 'local', 'school']),
    },
  }),
  academicSessions: z.strictObject({
    ...common,
    ...{
      title: z.string(),
      startDate: z.iso.date(),
      endDate: z.iso.date(),
      schoolYear: z.string().regex(/^\d{4}$/),
    },
    ...{ type: z.enum(['gradingPeriod', 'semester', 'schoolYear', 'term']), parent: session.optional() },
  }),
  courses: z.strictObject({ ...common, title: z.string(), courseCode: z.string(), org: org.optional() }),
  classes: z.strictObject({
    ...common,
    ...{ title: z.string(), classCode: z.string().optional(), classType: z.enum(['homeroom', 'scheduled']) },
    ...{ course: reference('course'), school: org, terms: z.array(session).min(1) },
  }),
  users: z.strictObject({
    ...common,
    ...{ username: z.string(), userIds: z.array(z.unknown()), enabledUser: flag, email: z.string() },
    ...{ givenName: z.string().min(1), familyName: z.string().min(1) },
    ...{ preferredFirstName: z.string().optional(), preferredLastName: z.string().optional() },
    roles: z
      .array(z.strictObject({ roleType: z.literal('primary'), role: z.enum(['student', 'teacher']), org }))
      .min(1),
    ...{ primaryOrg: org, agents: z.array(z.unknown()), grades: z.array(z.string()) },
  }),
  enrollments: z.strictObject({
    ...common,
    ...{
      user: reference('user'),
      class: reference('class'),
      school: org,
      role: z.enum(['student', 'teacher']),
    },
    ...{ primary: flag, beginDate: z.iso.date() },
  }),
  demographics: z.strictObject(common),
  categories: z.strictObject({ ...common, title: z.string(), weight: z.number().optional() }),
  scoreScales: z.strictObject(common),
  lineItems: z.strictObject({
    ...common,
    ...{ title: z.string(), description: z.string().optional(), assignDate: time, dueDate: time },
    ...{ class: reference('class'), school: org, category: reference('category'), academicSession: session },
    ...{ resultValueMin: z.number(), resultValueMax: z.number() },
  }),
  results: z.strictObject({
    ...common,
    ...{ lineItem: reference('lineItem'), student: reference('user'), class: reference('class') },
    ...{ scoreStatus: z.enum(['exempt', 'fully graded', 'not submitted', 'partially graded', 'submitted']) },
    ...{ score: z.number().optional(), scoreDate: z.iso.date(), comment: z.string().optional() },
  }),
}

/** Expects one record as OneRoster 1.2 requires. */
export function expectRecord({ status, body, text }: Answer, singular: string, plural: string): void {
  expect(status, text).toBe(200)
  expect(Object.keys(body)).toEqual([singular])
  expect(schemas[plural]?.safeParse(body[singular]).error?.issues, text).toBeUndefined()
}

/** Expects a list whose records are as OneRoster 1.2 requires. */
export function expectRecords({ status, body, text }: Answer, plural: string): void {
  expect(status, text).toBe(200)
  expect(Object.keys(body)).toEqual([plural])
  const schema = schemas[plural]
  for (const record of body[plural]) expect(schema?.safeParse(record).error?.issues, text).toBeUndefined()
}
