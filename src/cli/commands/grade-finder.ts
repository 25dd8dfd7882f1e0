import { escapeReference } from '../../codec/reference.ts'
import { sureRecords } from '../operation/judge-list.ts'
import type { Find, Finding } from '../operation/operation-spec.ts'
import { valueAt } from '../output/columns.ts'
import { counted } from '../terminal/counted.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'

/** Maximum number of candidates to name if several grades match. */
const maxNamed = 10

/**
 * Finds a grade by learner and `--course`, and by `--item` and `--source` if there are several. Without these flags
 * the argument is a grade id. Throws a UsageError if it is named incompletely, and a CommandError if none or several
 * match.
 */
export function gradeFinder(finding: Finding): Find {
  return async ({ arguments: { learner = '' }, flags: { course, item, source } }) => {
    if ([course, item, source].every((value) => value === undefined)) return learner
    if (course === undefined) {
      throw new UsageError('--course is required', {
        hint: 'Name a grade by its learner, --course and --item, or by its id alone',
      })
    }
    const { calls } = await import('../../contract/calls.ts')
    const query = {
      learner_id: escapeReference(learner),
      course_id: escapeReference(String(course)),
      ...(item !== undefined && { item_id: item }),
      ...(source !== undefined && { source }),
    }
    const found = await sureRecords(finding, calls.grades.list, query)
    const [only] = found
    const whose = `learner ${learner} in course ${String(course)}${item === undefined ? '' : ` for ${String(item)}`}`
    if (only === undefined) throw new CommandError('not_found', 'notFound', `No grade of ${whose}`)
    if (found.length === 1) return String(valueAt(only, 'id'))
    throw new CommandError('ambiguous', 'usage', `${counted(found.length, 'grade')} of ${whose}`, {
      why: found
        .map(
          (each) => `--item ${String(valueAt(each, 'itemId'))} --source ${String(valueAt(each, 'source'))}`,
        )
        .sort()
        .slice(0, maxNamed),
      hint: item === undefined ? 'Add --item' : 'Add --source',
    })
  }
}
