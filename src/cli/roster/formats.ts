import { canvasRoles, canvasTables, readCanvas } from './canvas.ts'
import { kolibriRoles, kolibriTables, readKolibri } from './kolibri.ts'
import { moodleRoles, moodleTables, readMoodle } from './moodle.ts'
import { oneRosterRoles, readOneRoster } from './oneroster.ts'
import { oneRosterTables } from './oneroster-tables.ts'
import type { RosterEntry, RosterFormat, RosterPart } from './roster.ts'
import type { TableForm } from './table.ts'
import type { Reading } from './walk.ts'

export interface FormatReader {
  readonly tables: readonly TableForm[]
  /** Names of roles that are read. */
  readonly roles: readonly string[]
  /** Parts of a table besides its own, and the columns by which a file has them. */
  readonly more?: Readonly<Record<string, Partial<Record<RosterPart, RegExp>>>>
  read(reading: Reading): AsyncGenerator<readonly RosterEntry[]>
}

export const formatReaders: Readonly<Record<RosterFormat, FormatReader>> = {
  oneroster: { tables: Object.values(oneRosterTables), roles: oneRosterRoles, read: readOneRoster },
  canvas: { tables: Object.values(canvasTables), roles: canvasRoles, read: readCanvas },
  moodle: {
    tables: Object.values(moodleTables),
    roles: moodleRoles,
    more: { users: { enrollments: /^course\d+$/i, groups: /^(group|cohort)\d+$/i } },
    read: readMoodle,
  },
  kolibri: {
    tables: Object.values(kolibriTables),
    roles: kolibriRoles,
    more: { users: { courses: /ENROLLED_IN|ASSIGNED_TO/i, enrollments: /ENROLLED_IN|ASSIGNED_TO/i } },
    read: readKolibri,
  },
}
