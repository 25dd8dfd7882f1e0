import { recordWords, type Words } from './record.ts'

const attributes = {
  courseId: 'Course: id or ext:<externalId>; responses have the id',
  userId: 'User: id, ext:<externalId> or email:<address>; responses have the id',
  role: 'What the user is in the course: learner or instructor',
  status: 'active, inactive, completed or deleted',
  enrolledAt: 'When the user was enrolled',
  managedBy: recordWords.managedBy,
} satisfies Words

export const enrollmentWords = {
  '': 'An enrolment: a user in a course. There is at most one for each user, course and role',
  id: 'Id of the enrolment, enr_…',
  ...attributes,
  courseTitle: 'Title of the course as it is now, whatever the version of the enrolment',
  courseExternalId: 'The school’s own id of the course, as it is now',
  userExternalId: 'The school’s own id of the user, as it is now',
  userEmail: 'E-mail address of the user as it is now, whatever the version of the enrolment',
  completedAt: 'When the enrolment was completed; null if it is not',
  source: "How it was created: api, or progress (by the learner's first progress record)",
  version: recordWords.version,
  createdAt: recordWords.createdAt,
  updatedAt: recordWords.updatedAt,
} satisfies Words

export const enrollmentInputWords = {
  ...attributes,
  '': 'The attributes of a new enrolment',
  enrolledAt: 'When the user was enrolled (default now)',
} satisfies Words

export const enrollmentPatchWords = {
  ...attributes,
  '': 'A merge patch of an enrolment (RFC 7396): absent attributes are left unchanged; the course, the user and the role cannot be changed',
} satisfies Words
