import type { Flag } from '../command/flag.ts'

/** The flags that find an enrolment without its id. */
export const enrollmentFlags: readonly Flag[] = [
  {
    name: 'user',
    unlisted: ['--learner', '--user-id'],
    kind: 'text',
    summary: 'User: id, external id or e-mail address',
  },
  { name: 'course', unlisted: ['--course-id'], kind: 'text', summary: 'Course: id or external id' },
  {
    name: 'role',
    kind: 'text',
    summary: 'Role in the course, for a user who has both',
    choices: ['learner', 'instructor', 'student', 'teacher'],
  },
]
