import type { LmsKind, ReadableKind } from '../contract/constants.ts'
import { canvasRecords } from './canvas-records.ts'
import { classroomRecords } from './classroom-records.ts'
import { moodleRecords } from './moodle-records.ts'
import { oneRosterRecords } from './oneroster-records.ts'
import { openedxRecords } from './openedx.ts'
import type { RecordSystem } from './records.ts'

/** A system is one line here and one file. */
const systems: Readonly<Record<ReadableKind, RecordSystem>> = {
  canvas: canvasRecords,
  moodle: moodleRecords,
  oneroster: oneRosterRecords,
  openedx: openedxRecords,
  classroom: classroomRecords,
}

/** Undefined for a kind whose records cannot be read. */
export function recordSystemOf(kind: LmsKind): RecordSystem | undefined {
  return Object.hasOwn(systems, kind) ? systems[kind as ReadableKind] : undefined
}

export function readableTitles(): readonly string[] {
  return Object.values(systems).map(({ title }) => title)
}
