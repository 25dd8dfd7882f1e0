import type { JsonObject } from '../../codec/json-object.ts'
import { escapeReference } from '../../codec/reference.ts'
import { sureRecords } from '../operation/judge-list.ts'
import type { Find, Finding } from '../operation/operation-spec.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'

/**
 * Finds an enrolment by `--user` and `--course`, and by `--role` if there are two; a deleted one only if there is no
 * other and `deleted` allows it. Throws a UsageError if it is named twice or incompletely, and a CommandError if none
 * or several match.
 */
export function enrollmentFinder({ deleted }: { readonly deleted: boolean }): (finding: Finding) => Find {
  return (finding) =>
    async ({ arguments: { enrollment }, flags }) => {
      const { user, course, role } = flags
      if (enrollment !== undefined) {
        const flag = ['user', 'course', 'role'].find((name) => flags[name] !== undefined)
        if (flag === undefined) return enrollment
        throw new UsageError(`--${flag} cannot be used together with the id of an enrolment`)
      }
      if (user === undefined || course === undefined) {
        throw new UsageError(`--${user === undefined ? 'user' : 'course'} is required`, {
          hint: 'Name an enrolment by its id, or by --user and --course',
        })
      }
      const { calls } = await import('../../contract/calls.ts')
      const query = {
        course_id: escapeReference(String(course)),
        user_id: escapeReference(String(user)),
        ...(role !== undefined && { role }),
        ...(deleted && { status: anyStatus }),
      }
      const found = await sureRecords(finding, calls.enrollments.list, query)
      return chosen(found, deleted, `user ${String(user)} in course ${String(course)}`)
    }
}

/** Lists omit deleted enrolments unless the status filter includes them. */
const anyStatus = 'active,inactive,completed,deleted'

function chosen(found: readonly JsonObject[], deleted: boolean, whose: string): string {
  const standing = found.filter(({ status }) => status !== 'deleted')
  const meant = standing.length === 0 && deleted ? found : standing
  const [only] = meant
  if (only === undefined) throw new CommandError('not_found', 'notFound', `No enrolment of ${whose}`)
  if (meant.length === 1) return String(only['id'])
  throw new CommandError('ambiguous', 'usage', `${meant.length} enrolments of ${whose}`, {
    why: meant.map(({ id, role, status }) => `${String(id)}: ${String(role)}, ${String(status)}`),
    hint: 'Add --role learner or --role instructor',
  })
}
