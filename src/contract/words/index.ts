import * as access from './access.ts'
import * as analytics from './analytics.ts'
import { auditEntryWords } from './audit.ts'
import * as courses from './courses.ts'
import * as deliveries from './deliveries.ts'
import * as enrollments from './enrollments.ts'
import * as grades from './grades.ts'
import * as integrations from './integrations.ts'
import * as lessons from './lessons.ts'
import * as progress from './progress.ts'
import * as record from './record.ts'
import * as users from './users.ts'
import * as webhooks from './webhooks.ts'

function page(of: string): record.Words {
  return { ...record.pageWords, '': `One page of ${of}` }
}

/** The words of each component of the OpenAPI document, by its name. */
export const words: Readonly<Record<string, record.Words>> = {
  Difficulty: { '': 'Difficulty of a course, from easiest to hardest' },
  CourseStatus: { '': 'Status of a course: draft, published or archived' },
  LessonStatus: { '': 'Whether learners can see a lesson' },
  Role: { '': 'Role of a user: it limits what their credentials can do' },
  UserStatus: { '': 'Whether a user can sign in' },
  EnrollmentRole: { '': 'Role of a user in a course' },
  EnrollmentStatus: { '': 'Status of an enrolment' },
  EndpointStatus: { '': 'Whether events are sent to an endpoint' },
  DeliveryStatus: { '': 'What became of a webhook delivery' },
  MessageStatus: { '': 'Whether a message was delivered, is still to be sent, or was given up' },
  ProgressStatus: { '': 'Derived from the completion percentage when progress is recorded' },

  Course: courses.courseWords,
  CourseInput: courses.courseInputWords,
  CoursePatch: courses.coursePatchWords,
  CoursePage: page('courses'),
  CourseUpdate: courses.courseUpdateWords,
  CourseVersion: courses.courseVersionWords,
  CourseVersionPage: page('versions of a course'),
  CourseSnapshot: {
    ...record.below('attributes', courses.courseInputWords),
    ...courses.courseVersionWords,
    '': 'One version of a course, with the attributes that the course had then',
    attributes: 'The attributes of the course in that version',
  },
  CourseDiff: courses.courseDiffWords,
  DeletedCourse: courses.deletedCourseWords,
  DeletedCoursePage: page('deleted courses'),

  Lesson: lessons.lessonWords,
  LessonInput: lessons.lessonInputWords,
  LessonPatch: lessons.lessonPatchWords,
  LessonPage: page('lessons'),
  LessonVersion: lessons.lessonVersionWords,
  LessonVersionPage: page('versions of a lesson'),
  LessonSnapshot: {
    ...record.below('attributes', lessons.lessonInputWords),
    ...lessons.lessonVersionWords,
    '': 'One version of a lesson, with the attributes that the lesson had then',
    attributes: 'The attributes of the lesson in that version',
  },
  LessonDiff: lessons.lessonDiffWords,
  DeletedLesson: lessons.deletedLessonWords,
  DeletedLessonPage: page('deleted lessons'),

  User: users.userWords,
  UserInput: users.userInputWords,
  UserPatch: users.userPatchWords,
  UserPage: page('users'),
  UserBatch: record.batchWords,
  CurrentUser: users.currentUserWords,
  OwnPatch: users.ownPatchWords,

  Enrollment: enrollments.enrollmentWords,
  EnrollmentInput: enrollments.enrollmentInputWords,
  EnrollmentPatch: enrollments.enrollmentPatchWords,
  EnrollmentPage: page('enrolments'),
  EnrollmentBatch: record.batchWords,

  Progress: progress.progressWords,
  ProgressInput: progress.progressInputWords,
  ProgressItem: progress.progressItemWords,
  ProgressPage: page('progress records'),
  ProgressStep: progress.progressStepWords,
  ProgressStepPage: page('the progress history of a learner in a course'),
  ProgressBatch: record.batchWords,

  Grade: grades.gradeWords,
  GradeInput: grades.gradeInputWords,
  RecordedGrade: grades.recordedGradeWords,
  GradePage: page('grades'),
  GradeStep: grades.gradeStepWords,
  GradeStepPage: page('the history of a grade'),
  GradeBatch: record.batchWords,

  LearnerRow: analytics.learnerRowWords,
  LearnerPage: analytics.learnerPageWords,
  Summary: analytics.summaryWords,
  Period: analytics.periodWords,

  Key: access.keyWords,
  KeyInput: access.keyInputWords,
  NewKey: access.newKeyWords,
  KeyPage: page('API keys'),
  Lease: access.leaseWords,
  LeaseInput: access.leaseInputWords,
  App: access.appWords,
  AppInput: access.appInputWords,
  NewApp: access.newAppWords,
  AppPage: page('OAuth applications'),
  Grant: access.grantWords,
  GrantPage: page('grants'),

  Endpoint: webhooks.endpointWords,
  EndpointInput: webhooks.endpointInputWords,
  EndpointPatch: webhooks.endpointPatchWords,
  NewEndpoint: webhooks.newEndpointWords,
  EndpointPage: page('webhook endpoints'),
  Message: webhooks.messageWords,
  MessageDetails: webhooks.messageDetailsWords,
  MessagePage: page('webhook messages'),
  Delivery: deliveries.deliveryWords,
  DeliveryDetails: deliveries.deliveryDetailsWords,
  DeliveryPage: page('webhook deliveries'),
  ReplayInput: deliveries.replayInputWords,
  Replayed: deliveries.replayedWords,
  LmsKind: { '': 'Kind of the other learning management system' },
  GradeToProgress: {
    '': 'What a grade does to progress: nothing, 100% once the course is passed, or the grade is the percentage',
  },
  MappedNoun: { '': 'What is mapped: a course or a user' },
  Integration: integrations.integrationWords,
  IntegrationPatch: integrations.integrationPatchWords,
  IntegrationPage: page('integrations'),
  IntegrationCheck: integrations.integrationCheckWords,
  Mapping: integrations.mappingWords,
  MappingInput: integrations.mappingInputWords,
  MappingPage: page('mappings'),
  MappingBatch: record.batchWords,

  AuditEntry: auditEntryWords,
  AuditEntryPage: page('the audit log'),

  BatchResult: record.batchResultWords,
  Problem: record.problemWords,
  Health: record.healthWords,
  OpenApiDocument: { '': 'An OpenAPI 3.1 document' },
}
