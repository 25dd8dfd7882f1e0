import { EnrollmentInput, enrollments } from '../../contract/enrollments.ts'
import {
  courseFilter,
  filtersOf,
  flagsOf,
  groupFilter,
  termFilter,
  userFilter,
  userFlag,
} from './derive-flags.ts'

export const fields = flagsOf(
  EnrollmentInput,
  {
    courseId: { name: 'course' },
    userId: {
      ...userFlag,
      summary: 'User: id, external id or e-mail address; several as arguments',
      byArgument: true,
    },
  },
  ['courseId', 'userId', 'role', 'status'],
  ['enrolledAt'],
)

export const filters = filtersOf(enrollments.list, {
  course_id: courseFilter,
  user_id: userFilter('user'),
  group_id: groupFilter,
  term_id: termFilter,
  role: { summary: 'Filter by role' },
  status: { summary: 'Filter by status' },
})
