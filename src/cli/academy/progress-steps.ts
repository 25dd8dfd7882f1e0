import type { JsonObject } from '../../codec/json-text.ts'
import type { Entry } from './entry.ts'

/** Returns the steps of an entry; the last one is its record. */
export function stepsOf({ record, steps }: Entry): readonly JsonObject[] {
  return steps ?? [record]
}

/** Returns the steps that the academy lacks: those after the shown one, else those with later times. */
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
