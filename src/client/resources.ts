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
export type { ChatSettings } from '../contract/chat.ts'
export type {
  Course,
  CourseDiff,
  CourseSnapshot,
  CourseUpdate,
  CourseVersion,
  DeletedCourse,
} from '../contract/courses.ts'
export type { DataRow, LearnerChange } from '../contract/data-tables.ts'
export type { Delivery, DeliveryDetails, DeliveryStatus, Replayed } from '../contract/deliveries.ts'
export type { Endpoint, EndpointKind, NewEndpoint } from '../contract/endpoints.ts'
export type { Enrollment } from '../contract/enrollments.ts'
export type { ForeignRecords } from '../contract/foreign-records.ts'
export type { ForeignWrite, ForeignWriteResult } from '../contract/foreign-writes.ts'
export type { GradebookGrade, GradebookItem, GradebookRow } from '../contract/gradebook.ts'
export type { Grade, GradeStep, RecordedGrade } from '../contract/grades.ts'
export type { Grant } from '../contract/grants.ts'
export type { DeletedGroup, Group, Membership } from '../contract/groups.ts'
export type { Integration, IntegrationCheck, ShownSecret } from '../contract/integrations.ts'
export type { Key, NewKey } from '../contract/keys.ts'
export type { LearnerRow } from '../contract/learner-row.ts'
export type { Lease } from '../contract/leases.ts'
export type { DeletedLesson, Lesson, LessonDiff, LessonSnapshot, LessonVersion } from '../contract/lessons.ts'
export type { Mapping } from '../contract/mappings.ts'
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

type Health = Answer<Contract['service']['health']>

/** The body of a request, as a client sends it: before defaults are filled in. */
type Body<
  Group extends keyof Contract,
  Verb extends keyof Contract[Group],
> = Contract[Group][Verb] extends Operation ? BodyInput<Contract[Group][Verb]> : never

type AppInput = Body<'apps', 'create'>
type CalendarInput = Body<'calendars', 'create'>
type CourseInput = Body<'courses', 'create'>
type CoursePatch = Body<'courses', 'update'>
type EndpointInput = Body<'endpoints', 'create'>
type EndpointPatch = Body<'endpoints', 'update'>
type EnrollmentInput = Body<'enrollments', 'create'>
type EnrollmentPatch = Body<'enrollments', 'update'>
type GradeInput = Body<'grades', 'set'>
type GroupInput = Body<'groups', 'create'>
type GroupPatch = Body<'groups', 'update'>
type IntegrationPatch = Body<'integrations', 'set'>
type MappingInput = Body<'integrations', 'map'>
type KeyInput = Body<'keys', 'create'>
type LessonInput = Body<'lessons', 'create'>
type LessonPatch = Body<'lessons', 'update'>
type ProgressInput = Body<'progress', 'set'>
type SettingsPatch = Body<'settings', 'update'>
type TermInput = Body<'terms', 'create'>
type TermPatch = Body<'terms', 'update'>
type UserInput = Body<'users', 'create'>
type UserPatch = Body<'users', 'update'>
type OwnPatch = Body<'users', 'updateProfile'>
type ReplayInput = Body<'deliveries', 'replayAll'>
type ForeignWrites = Body<'integrations', 'write'>
type ChangeInput = Body<'changes', 'create'>
type ChangeEnd = Body<'changes', 'end'>
type UndoInput = Body<'undo', 'carryOut'>
type PlanInput = Body<'plans', 'create'>
type PlannedSteps = Body<'plans', 'addSteps'>
type PlanRun = Body<'plans', 'carryOut'>
type LeaseInput = Body<'leases', 'take'>

type BatchItem<Group extends 'groups' | 'progress', Verb extends keyof Contract[Group]> =
  Body<Group, Verb> extends { readonly items: readonly (infer Item)[] } ? Item : never

type MembershipInput = BatchItem<'groups', 'batchMembers'>
type ProgressItem = BatchItem<'progress', 'batch'>

export type {
  AppInput,
  CalendarInput,
  ChangeEnd,
  ChangeInput,
  CourseInput,
  CoursePatch,
  EndpointInput,
  EndpointPatch,
  EnrollmentInput,
  EnrollmentPatch,
  ForeignWrites,
  GradeInput,
  GroupInput,
  GroupPatch,
  Health,
  IntegrationPatch,
  KeyInput,
  LeaseInput,
  LessonInput,
  LessonPatch,
  MappingInput,
  MembershipInput,
  OwnPatch,
  PlanInput,
  PlannedSteps,
  PlanRun,
  ProgressInput,
  ProgressItem,
  ReplayInput,
  SettingsPatch,
  TermInput,
  TermPatch,
  UndoInput,
  UserInput,
  UserPatch,
}
