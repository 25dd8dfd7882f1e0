import * as z from 'zod'
import * as analytics from './analytics.ts'
import * as apps from './apps.ts'
import { AuditEntry, audit } from './audit.ts'
import { BatchResult } from './batch.ts'
import * as attributes from './course-attributes.ts'
import * as courses from './courses.ts'
import * as deliveries from './deliveries.ts'
import * as endpoints from './endpoints.ts'
import * as enrollments from './enrollments.ts'
import { BooleanParam } from './field.ts'
import * as grades from './grades.ts'
import * as grants from './grants.ts'
import { operations } from './index.ts'
import * as integration from './integration.ts'
import { integrations } from './integrations.ts'
import * as keys from './keys.ts'
import * as lessons from './lessons.ts'
import * as mapping from './mapping.ts'
import * as messages from './messages.ts'
import type { Schema } from './openapi-limits.ts'
import { partsOf, queryOf, sentOf, shownOf } from './openapi-tidy.ts'
import * as progress from './progress.ts'
import { service } from './service.ts'
import * as users from './users.ts'
import { words } from './words/index.ts'

type Named = Readonly<Record<string, z.ZodType>>
type Schemas = Readonly<Record<string, Schema>>

/** What requests carry, by the name of the component. */
const sent: Named = {
  CourseInput: attributes.CourseInput,
  CoursePatch: attributes.CoursePatch,
  LessonInput: lessons.LessonInput,
  LessonPatch: lessons.LessonPatch,
  UserInput: users.UserInput,
  UserPatch: users.UserPatch,
  UserBatch: users.users.batch.body,
  OwnPatch: users.OwnPatch,
  EnrollmentInput: enrollments.EnrollmentInput,
  EnrollmentPatch: enrollments.EnrollmentPatch,
  EnrollmentBatch: enrollments.enrollments.batch.body,
  ProgressInput: progress.ProgressInput,
  ProgressItem: progress.ProgressItem,
  ProgressBatch: progress.progress.batch.body,
  GradeInput: grades.GradeInput,
  GradeBatch: grades.grades.batch.body,
  KeyInput: keys.KeyInput,
  AppInput: apps.AppInput,
  EndpointInput: endpoints.EndpointInput,
  EndpointPatch: endpoints.EndpointPatch,
  IntegrationPatch: integration.IntegrationPatch,
  MappingInput: mapping.MappingInput,
  MappingBatch: integrations.mapBatch.body,
}

/** What responses carry. */
const shown: Named = {
  Course: courses.Course,
  CoursePage: courses.courses.list.response,
  CourseUpdate: courses.CourseUpdate,
  CourseVersion: courses.CourseVersion,
  CourseVersionPage: courses.courses.versions.response,
  CourseSnapshot: courses.CourseSnapshot,
  CourseDiff: courses.CourseDiff,
  DeletedCourse: courses.DeletedCourse,
  DeletedCoursePage: courses.courses.listDeleted.response,
  Lesson: lessons.Lesson,
  LessonPage: lessons.lessons.list.response,
  LessonVersion: lessons.LessonVersion,
  LessonVersionPage: lessons.lessons.versions.response,
  LessonSnapshot: lessons.LessonSnapshot,
  LessonDiff: lessons.LessonDiff,
  DeletedLesson: lessons.DeletedLesson,
  DeletedLessonPage: lessons.lessons.listDeleted.response,
  User: users.User,
  UserPage: users.users.list.response,
  CurrentUser: users.CurrentUser,
  Enrollment: enrollments.Enrollment,
  EnrollmentPage: enrollments.enrollments.list.response,
  Progress: progress.Progress,
  ProgressPage: progress.progress.list.response,
  ProgressStep: progress.ProgressStep,
  ProgressStepPage: progress.progress.history.response,
  Grade: grades.Grade,
  GradePage: grades.grades.list.response,
  GradeStep: grades.GradeStep,
  GradeStepPage: grades.grades.history.response,
  LearnerRow: analytics.LearnerRow,
  LearnerPage: analytics.LearnerPage,
  Summary: analytics.Summary,
  Period: analytics.Period,
  Key: keys.Key,
  KeyPage: keys.keys.list.response,
  NewKey: keys.NewKey,
  App: apps.App,
  AppPage: apps.apps.list.response,
  NewApp: apps.NewApp,
  Grant: grants.Grant,
  GrantPage: grants.grants.list.response,
  Endpoint: endpoints.Endpoint,
  EndpointPage: endpoints.endpoints.list.response,
  NewEndpoint: endpoints.NewEndpoint,
  Message: messages.Message,
  MessagePage: messages.messages.list.response,
  MessageDetails: messages.MessageDetails,
  Delivery: deliveries.Delivery,
  DeliveryPage: deliveries.deliveries.list.response,
  DeliveryDetails: deliveries.DeliveryDetails,
  ReplayInput: deliveries.ReplayInput,
  Replayed: deliveries.Replayed,
  Integration: integration.Integration,
  IntegrationPage: integrations.list.response,
  IntegrationCheck: integration.IntegrationCheck,
  Mapping: mapping.Mapping,
  MappingPage: integrations.mappings.response,
  AuditEntry,
  AuditEntryPage: audit.list.response,
  BatchResult,
  Health: service.health.response,
  OpenApiDocument: service.openapi.response,
}

/** Choices that have a name of their own, in requests and responses. */
const choices: Named = {
  Difficulty: attributes.Difficulty,
  CourseStatus: attributes.CourseStatus,
  LessonStatus: lessons.LessonStatus,
  Role: users.Role,
  UserStatus: users.UserStatus,
  EnrollmentRole: enrollments.EnrollmentRole,
  EnrollmentStatus: enrollments.EnrollmentStatus,
  ProgressStatus: progress.ProgressStatus,
  EndpointStatus: endpoints.EndpointStatus,
  MessageStatus: messages.MessageStatus,
  DeliveryStatus: deliveries.DeliveryStatus,
  LmsKind: integration.LmsKind,
  GradeToProgress: integration.GradeToProgress,
  MappedNoun: mapping.MappedNoun,
}

/** Which request says how long, high or many the fields of a response are. */
const bounded: Readonly<Record<string, string>> = {
  Course: 'CourseInput',
  CourseSnapshot: 'CourseInput',
  DeletedCourse: 'CourseInput',
  Lesson: 'LessonInput',
  LessonSnapshot: 'LessonInput',
  DeletedLesson: 'LessonInput',
  User: 'UserInput',
  CurrentUser: 'UserInput',
  Enrollment: 'EnrollmentInput',
  Progress: 'ProgressInput',
  ProgressStep: 'ProgressInput',
  Grade: 'GradeInput',
  GradeStep: 'GradeInput',
  LearnerRow: 'ProgressInput',
  Key: 'KeyInput',
  NewKey: 'KeyInput',
  App: 'AppInput',
  NewApp: 'AppInput',
  Endpoint: 'EndpointInput',
  NewEndpoint: 'EndpointInput',
  Integration: 'IntegrationPatch',
  Mapping: 'MappingInput',
}

/** The schemas of the contract, as OpenAPI needs them. */
export interface DocumentSchemas {
  /** Under `components/schemas`. */
  readonly components: Schemas
  /** The query of each operation that has one, by the operation's id. */
  readonly queries: Schemas
  /** The name of the component that a body is. Throws where it has none here. */
  readonly nameOf: (body: z.ZodType) => string
  /** A reference to that component. */
  readonly referenceTo: (body: z.ZodType) => { readonly $ref: string }
}

/** Every schema of the contract: bodies as components, queries by operation. */
export function documentSchemas(): DocumentSchemas {
  const queries: Named = Object.fromEntries(
    operations.flatMap(({ id, query }) => (query ? [[id, query]] : [])),
  )
  const input = jsonOf('input', { ...choices, ...sent, ...queries })
  const output = jsonOf('output', { ...choices, ...shown })
  const requests = each(sent, (name) => sentOf(input[name] ?? {}, words[name] ?? {}))
  const limits = (name: string) => {
    const parts = partsOf(requests[bounded[name] ?? ''] ?? {})
    return new Map([...parts, ...parts.map(([path, part]) => [`attributes.${path}`, part] as const)])
  }
  const responses = each({ ...choices, ...shown }, (name) =>
    shownOf(output[name] ?? {}, words[name] ?? {}, limits(name)),
  )
  const names = new Map(Object.entries({ ...sent, ...shown }).map(([name, schema]) => [schema, name]))
  const nameOf = (body: z.ZodType) => {
    const name = names.get(body)
    if (name === undefined) throw new Error('A body of the contract has no name in openapi-schemas.ts')
    return name
  }
  return {
    components: { ...responses, ...requests },
    queries: each(queries, (id) => queryOf(input[id] ?? {})),
    nameOf,
    referenceTo: (body) => ({ $ref: referenceTo(nameOf(body)) }),
  }
}

function each(named: Named, make: (name: string) => Schema): Schemas {
  return Object.fromEntries(Object.keys(named).map((name) => [name, make(name)]))
}

function jsonOf(io: 'input' | 'output', named: Named): Schemas {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    uri: referenceTo,
    override: plainly,
  })
  // What Zod makes is JSON Schema, whose keywords are those of Schema.
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema as Schema]),
  )
}

function referenceTo(name: string): string {
  return `#/components/schemas/${name}`
}

/** What Zod adds to a schema, or has no word for, and a reader would stumble over. */
function plainly({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: unknown
  jsonSchema: z.core.JSONSchema.BaseSchema
}): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (zodSchema === BooleanParam) {
    delete jsonSchema.enum
    jsonSchema.type = 'boolean'
  }
  if (zodSchema instanceof z.ZodDefault && zodSchema.def.innerType === BooleanParam) {
    // Zod tells a default only where the input has the type of the output.
    jsonSchema.default = zodSchema.def.defaultValue as boolean
  }
}
