import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { escapeReference } from '../../codec/reference.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Find, Finding } from '../operation/operation-spec.ts'
import { surePages } from '../operation/sure-pages.ts'
import { valueAt } from '../output/columns.ts'
import { counted } from '../terminal/counted.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'

/** Maximum number of grades that are named where it is not clear which one is meant. */
const maxNamed = 10

/**
 * Finds a grade by learner and `--course`, and by `--item` and `--source` where there are several. Without any of these
 * the argument is the id of a grade. Throws a UsageError where it is named by half, and a CommandError where there is
 * none, or more than one.
 */
export function gradeFinder({ context, caller }: Finding): Find {
  return async ({ arguments: { learner = '' }, flags: { course, item, source } }) => {
    if ([course, item, source].every((value) => value === undefined)) return learner
    if (course === undefined) {
      throw new UsageError('--course is required', {
        hint: 'Name a grade by its learner, --course and --item, or by its id alone',
      })
    }
    const { calls } = await import('../../contract/calls.ts')
    const operation: Operation = calls.grades.list
    const query = {
      learner_id: escapeReference(learner),
      course_id: escapeReference(String(course)),
      ...(item !== undefined && { item_id: item }),
      ...(source !== undefined && { source }),
    }
    const { signal } = context.io
    const pages = caller.pages(operation, { query, handling: 'strict', signal })
    const flagOf = (parameter: string) => `--${parameter.replace('_id', '')}`
    const found: JsonObject[] = []
    for await (const { data } of surePages(context, caller, { operation, query, flagOf }, pages)) {
      found.push(...data.filter(isJsonObject))
    }
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
