import type { JsonObject } from '../../codec/json-object.ts'
import type { Entry } from './entry.ts'

/** The steps of an entry, the last of which is its record. */
export function stepsOf({ record, steps }: Entry): readonly JsonObject[] {
  return steps ?? [record]
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
