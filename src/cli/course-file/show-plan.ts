import type { JsonObject } from '../../codec/json-text.ts'
import { changeText, namedChanges } from '../operation/named-changes.ts'
import { thingName } from '../operation/thing-name.ts'
import type { Change } from '../records/compare.ts'
import { counted } from '../terminal/format-text.ts'
import { type CoursePlan, isEmpty } from './course-plan.ts'

/** Returns the lines of a plan for a terminal: `+` is created, `~` changed, `-` deleted. */
export function planLines(plan: CoursePlan): readonly string[] {
  const { current, record, changes, steps, absent, prune } = plan
  const course = `course ${thingName(record)}`
  if (isEmpty(plan)) return [`No changes to ${course}`]
  return [
    current === null ? `+ ${course}` : `~ ${course}`,
    ...changeLines(changes, '    '),
    ...steps.flatMap(({ action, record, changes }) => [
      `  ${action === 'create' ? '+' : '~'} lesson ${lessonName(record)}`,
      ...changeLines(changes, '      '),
    ]),
    ...(prune ? absent.map((lesson) => `  - lesson ${lessonName(lesson)}`) : []),
  ]
}

/** Returns a note on lessons that are absent from the file and kept; null if there are none. */
export function keptNote({ absent, prune, record }: CoursePlan): string | null {
  if (prune || absent.length === 0) return null
  const names = absent.slice(0, 10).map((lesson) => lessonName(lesson))
  const rest = absent.length > names.length ? ` and ${absent.length - names.length} more` : ''
  const count = counted(absent.length, 'lesson')
  return `${count} of course ${thingName(record)} ${absent.length === 1 ? 'is' : 'are'} not in the file and will be kept: ${names.join(', ')}${rest}; --prune deletes ${absent.length === 1 ? 'it' : 'them'}`
}

/** Returns a plan as data, for JSON and YAML. */
export function planData(plan: CoursePlan): JsonObject {
  const { current, record, changes, steps, absent, prune } = plan
  const named = ({ externalId = null, title }: JsonObject) => ({ externalId, title })
  return {
    action: current === null ? 'create' : isEmpty(plan) ? 'none' : 'update',
    ...named(record),
    changes,
    lessons: [
      ...steps.map(({ action, record, changes }) => ({ action, ...named(record), changes })),
      ...absent.map((lesson) => ({ action: prune ? 'delete' : 'keep', ...named(lesson), changes: [] })),
    ],
  }
}

/** Returns `Waves (waves)`, or the title alone of a lesson without an external id. */
export function lessonName({ title, externalId }: JsonObject): string {
  return typeof externalId === 'string' ? `${title} (${externalId})` : String(title)
}

function changeLines(changes: readonly Change[], indent: string): string[] {
  return changes.flatMap(({ field, from, to }) =>
    namedChanges(field, from, to).map((change) => `${indent}${changeText(change)}`),
  )
}
