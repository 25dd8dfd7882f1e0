import type * as z from 'zod'
import * as analytics from './analytics.ts'
import * as apps from './apps.ts'
import { AuditEntry, audit } from './audit.ts'
import { BatchResult } from './batch.ts'
import * as course from './course.ts'
import * as courses from './courses.ts'
import * as deliveries from './deliveries.ts'
import * as endpoints from './endpoints.ts'
import * as enrollments from './enrollments.ts'
import * as grades from './grades.ts'
import * as grants from './grants.ts'
import * as integration from './integration.ts'
import { integrations } from './integrations.ts'
import * as keys from './keys.ts'
import * as leases from './leases.ts'
import * as lessons from './lessons.ts'
import * as mapping from './mapping.ts'
import * as messages from './messages.ts'
import * as progress from './progress.ts'
import { service } from './service.ts'
import * as users from './users.ts'

/** Schemas by the names of their components. */
export type Named = Readonly<Record<string, z.ZodType>>

/** What requests carry, by the name of the component. */
export const sent: Named = {
  ReplayInput: deliveries.ReplayInput,
  CourseInput: course.CourseInput,
  CoursePatch: course.CoursePatch,
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
  LeaseInput: leases.LeaseInput,
  AppInput: apps.AppInput,
  EndpointInput: endpoints.EndpointInput,
  EndpointPatch: endpoints.EndpointPatch,
  IntegrationPatch: integration.IntegrationPatch,
  MappingInput: mapping.MappingInput,
  MappingBatch: integrations.mapBatch.body,
}

/** What responses carry. */
export const shown: Named = {
  Course: course.Course,
  CoursePage: courses.courses.list.response,
  CourseUpdate: course.CourseUpdate,
  CourseVersion: course.CourseVersion,
  CourseVersionPage: courses.courses.versions.response,
  CourseSnapshot: course.CourseSnapshot,
  CourseDiff: course.CourseDiff,
  DeletedCourse: course.DeletedCourse,
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
  RecordedGrade: grades.RecordedGrade,
  GradePage: grades.grades.list.response,
  GradeStep: grades.GradeStep,
  GradeStepPage: grades.grades.history.response,
  LearnerRow: analytics.LearnerRow,
  LearnerPage: analytics.LearnerPage,
  Summary: analytics.Summary,
  Period: analytics.Period,
  Key: keys.Key,
  Lease: leases.Lease,
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
export const choices: Named = {
  Difficulty: course.Difficulty,
  CourseStatus: course.CourseStatus,
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
export const bounded: Readonly<Record<string, string>> = {
  LearnerRow: 'ProgressInput',
}
