import { EnrollmentInput } from '../../contract/enrollments.ts'
import { flagsOf } from './flags-of.ts'

/** The flags of an enrolment's fields. */
export const fields = flagsOf(
  EnrollmentInput,
  {
    courseId: { name: 'course' },
    userId: {
      name: 'user',
      unlisted: ['--learner'],
      summary: 'User: id, external id or e-mail address; several as arguments',
      byArgument: true,
    },
    enrolledAt: { default: 'now' },
  },
  ['courseId', 'userId', 'role', 'status', 'enrolledAt'],
)
