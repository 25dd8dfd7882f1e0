import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import { thingName } from '../operation/thing-name.ts'
import type { Io } from '../terminal/io.ts'
import type { CoursePlan } from './course-plan.ts'
import { readPlanLines, savePlanLines, stalePlan } from './plan-lines.ts'
import type { CourseRecords } from './sources/course.ts'

const command = 'courses apply'

/** A saved plan of courses. */
export interface SavedCourses {
  readonly wanted: readonly CourseRecords[]
  readonly prune: boolean
  /** Throws a CommandError if plans that were made anew have changes that the saved ones do not have. */
  requireSame(plans: readonly CoursePlan[]): void
}

/** Saves the plans of courses with the records of their files, readable by its owner only. */
export async function saveCourses(
  io: Io,
  path: string,
  wanted: readonly CourseRecords[],
  plans: readonly CoursePlan[],
  { target, prune }: { readonly target: string; readonly prune: boolean },
): Promise<void> {
  const lines = plans.map((plan, index) => ({ ...wanted[index], changes: [...changesOf(plan).keys()] }))
  await savePlanLines(io, path, { command, target, prune }, [lines])
}

/** Throws a UsageError if the file is not a saved plan, and a CommandError if it is for another target. */
export async function readSavedCourses(io: Io, path: string, target: string): Promise<SavedCourses> {
  const { header, changes } = await readPlanLines(io, path, { command, target })
  // Written by saveCourses.
  const saved = changes as readonly (CourseRecords & { readonly changes: readonly string[] })[]
  return {
    wanted: saved.map(({ course, lessons }) => ({ course, lessons })),
    prune: header['prune'] === true,
    requireSame(plans) {
      for (const [index, plan] of plans.entries()) {
        const known = new Set(saved[index]?.changes)
        for (const [change, record] of changesOf(plan)) {
          // An interrupted run may have created the record already.
          if (known.has(change) || known.has(creationOf(record))) continue
          const name = record === plan.record ? 'course' : 'lesson'
          throw stalePlan(
            command,
            `Cannot change ${name} ${thingName(record)} as planned; nothing was changed`,
          )
        }
      }
    },
  }
}

/**
 * Returns the changes of a plan with their records. Places and the status of the course are left out: an interrupted
 * run leaves others.
 */
function changesOf({ record, current, changes, steps, absent, prune }: CoursePlan): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>()
  if (current === null) found.set(creationOf(record), record)
  for (const change of changes) if (change.field !== 'status') found.set(jsonText(['course', change]), record)
  for (const { action, record, current, changes } of steps) {
    if (action === 'create') found.set(creationOf(record), record)
    for (const change of changes) {
      if (change.field !== 'order') found.set(jsonText([current?.['id'] ?? null, change]), record)
    }
  }
  for (const lesson of prune ? absent : []) found.set(jsonText(['delete', lesson['id']]), lesson)
  return found
}

function creationOf({ externalId = null, title }: JsonObject): string {
  return jsonText(['create', externalId, title])
}
