import type { Contract } from '../contract/index.ts'
import type { Answer, BodyInput, Operation } from '../contract/operation.ts'

export type {
  Backfill,
  Bucket as PercentageBucket,
  LearnerPage,
  Period,
  Report,
  Summary,
} from '../contract/analytics.ts'
export type { App, NewApp } from '../contract/apps.ts'
export type { AuditEntry } from '../contract/audit.ts'
export type { BatchResult } from '../contract/batch.ts'
export type { Calendar, NewCalendar } from '../contract/calendars.ts'
export type { Change, ChangeCount, ChangedRecord } from '../contract/changes.ts'
export type {
  Course,
  CourseDiff,
  CourseSnapshot,
  CourseUpdate,
  CourseVersion,
  DeletedCourse,
} from '../contract/courses.ts'
export type { DataRow } from '../contract/data-tables.ts'
export type { Delivery, DeliveryDetails, DeliveryStatus, Replayed } from '../contract/deliveries.ts'
export type { ChatSettings, Endpoint, EndpointKind, NewEndpoint } from '../contract/endpoints.ts'
export type { Enrollment } from '../contract/enrollments.ts'
export type { ForeignRecords, ForeignWrite, ForeignWriteResult } from '../contract/foreign-records.ts'
export type {
  Grade,
  GradebookGrade,
  GradebookItem,
  GradebookRow,
  GradeStep,
  RecordedGrade,
} from '../contract/grades.ts'
export type { Grant } from '../contract/grants.ts'
export type { DeletedGroup, Group, Membership } from '../contract/groups.ts'
export type { Integration, IntegrationCheck, Mapping, ShownSecret } from '../contract/integrations.ts'
export type { Key, NewKey } from '../contract/keys.ts'
export type { LearnerRow } from '../contract/learner-row.ts'
export type { Lease } from '../contract/leases.ts'
export type { DeletedLesson, Lesson, LessonDiff, LessonSnapshot, LessonVersion } from '../contract/lessons.ts'
export type { Attempt, Message, MessageDetails } from '../contract/messages.ts'
export type { Plan, PlannedStep, PlanOutcome, RefusedStep } from '../contract/plans.ts'
export type { Progress, ProgressStep } from '../contract/progress.ts'
export type { Activity, ActivityPeriod, AtRiskRow, ItemGrades } from '../contract/questions.ts'
export type { Settings } from '../contract/settings.ts'
export type { Statement, XapiSettings } from '../contract/statements.ts'
export type { Term } from '../contract/terms.ts'
export type {
  KeptRecord,
  UndoFailure,
  Undone,
  UndoneField,
  UndoneRecord,
  UndoPlan,
} from '../contract/undo.ts'
export type { CurrentUser, PersonalRecord, Role, User } from '../contract/users.ts'

export type Health = Answer<Contract['service']['health']>

type Body<
  Group extends keyof Contract,
  Verb extends keyof Contract[Group],
> = Contract[Group][Verb] extends Operation ? BodyInput<Contract[Group][Verb]> : never

export type AppInput = Body<'apps', 'create'>
export type CalendarInput = Body<'calendars', 'create'>
export type CourseInput = Body<'courses', 'create'>
export type CoursePatch = Body<'courses', 'update'>
export type EndpointInput = Body<'endpoints', 'create'>
export type EndpointPatch = Body<'endpoints', 'update'>
export type EnrollmentInput = Body<'enrollments', 'create'>
export type EnrollmentPatch = Body<'enrollments', 'update'>
export type GradeInput = Body<'grades', 'set'>
export type GroupInput = Body<'groups', 'create'>
export type GroupPatch = Body<'groups', 'update'>
export type IntegrationPatch = Body<'integrations', 'set'>
export type MappingInput = Body<'integrations', 'map'>
export type KeyInput = Body<'keys', 'create'>
export type LessonInput = Body<'lessons', 'create'>
export type LessonPatch = Body<'lessons', 'update'>
export type ProgressInput = Body<'progress', 'set'>
export type SettingsPatch = Body<'settings', 'update'>
export type TermInput = Body<'terms', 'create'>
export type TermPatch = Body<'terms', 'update'>
export type UserInput = Body<'users', 'create'>
export type UserPatch = Body<'users', 'update'>
export type OwnPatch = Body<'users', 'updateProfile'>
export type ReplayInput = Body<'deliveries', 'replayAll'>
export type ForeignWrites = Body<'integrations', 'write'>
export type ChangeInput = Body<'changes', 'create'>
export type ChangeEnd = Body<'changes', 'end'>
export type UndoInput = Body<'undo', 'carryOut'>
export type PlanInput = Body<'plans', 'create'>
export type PlannedSteps = Body<'plans', 'addSteps'>
export type PlanRun = Body<'plans', 'carryOut'>
export type LeaseInput = Body<'leases', 'take'>

type BatchItem<Group extends 'groups' | 'progress', Verb extends keyof Contract[Group]> =
  Body<Group, Verb> extends { readonly items: readonly (infer Item)[] } ? Item : never

export type MembershipInput = BatchItem<'groups', 'batchMembers'>
export type ProgressItem = BatchItem<'progress', 'batch'>
