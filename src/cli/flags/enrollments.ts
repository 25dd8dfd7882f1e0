import { EnrollmentInput, enrollments } from '../../contract/enrollments.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

export const fields = flagsOf(
  EnrollmentInput,
  {
    userId: {
      summary: 'User: id, external id or e-mail address; several as arguments',
      byArgument: true,
    },
  },
  ['courseId', 'userId', 'role', 'status'],
  ['enrolledAt'],
)

export const changes = flagsOf(EnrollmentInput, {}, [], ['courseId', 'userId', 'role', 'enrolledAt'])

export const filters = filtersOf(enrollments.list)
