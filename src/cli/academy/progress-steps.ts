import type { JsonObject } from '../../codec/json-object.ts'
import type { Entry } from './entry.ts'
import type { Change } from './plan.ts'

const fields = ['completionPercentage', 'lastAccessed'] as const

/** The steps of an entry, the last of which is its record. */
export function stepsOf({ record, steps }: Entry): readonly JsonObject[] {
  return steps ?? [record]
}

/**
 * In what the progress of a learner differs from what is declared; null for nothing, `newer` where the learner has gone on
 * since: progress never goes back to an earlier time.
 */
export function progressChange({ record }: Entry, shown: JsonObject): readonly Change[] | 'newer' | null {
  const given = timeOf(record)
  if (given !== null && given < (timeOf(shown) ?? 0)) return 'newer'
  const changes = fields.flatMap((field): Change[] => {
    const [from, to] = [shown[field], record[field]]
    const same = field === 'lastAccessed' ? given === timeOf(shown) : from === to
    return to === undefined || same ? [] : [{ field, from, to }]
  })
  return changes.length > 0 ? changes : null
}

/** True for a grade that was given before the one that is shown. */
export function isOlder({ gradedAt }: JsonObject, shown: JsonObject): boolean {
  return typeof gradedAt === 'string' && Date.parse(gradedAt) < Date.parse(String(shown['gradedAt']))
}

/** The steps that the academy does not have yet: those after the one that it shows, else those of later times. */
export function missingSteps(entry: Entry, shown: JsonObject | null): readonly JsonObject[] {
  const steps = stepsOf(entry)
  if (shown === null) return steps
  const last = steps.findLastIndex((step) => isSame(step, shown))
  if (last >= 0 && last < steps.length - 1) return steps.slice(last + 1)
  const reached = timeOf(shown) ?? 0
  const later = steps.filter((step) => (timeOf(step) ?? Number.MAX_SAFE_INTEGER) > reached)
  return later.length > 0 ? later : [entry.record]
}

function isSame(step: JsonObject, shown: JsonObject): boolean {
  return step['completionPercentage'] === shown['completionPercentage'] && timeOf(step) === timeOf(shown)
}

function timeOf({ lastAccessed }: JsonObject): number | null {
  return typeof lastAccessed === 'string' ? Date.parse(lastAccessed) : null
}
