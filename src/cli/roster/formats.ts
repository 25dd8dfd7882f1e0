import { suggestionText } from '../../contract/validation-issues.ts'
import type { MappedTo } from '../records/sources/mapping.ts'
import { canvasRoles, canvasTables, readCanvas } from './canvas.ts'
import { kolibriRoles, kolibriTables, readKolibri } from './kolibri.ts'
import { moodleRoles, moodleTables, readMoodle } from './moodle.ts'
import { oneRosterRoles, readOneRoster } from './oneroster.ts'
import { oneRosterTables } from './oneroster-tables.ts'
import type { Reading } from './reading.ts'
import {
  academyRoles,
  isRoleColumn,
  type RosterFormat,
  type RosterPart,
  roleField,
  rosterFormats,
} from './roster.ts'
import type { TableForm } from './table.ts'

export interface FormatReader {
  readonly tables: readonly TableForm[]
  /** Names of roles that are read. */
  readonly roles: readonly string[]
  /** Parts of a table besides its own, and the columns by which a file has them. */
  readonly more?: Readonly<Record<string, Partial<Record<RosterPart, RegExp>>>>
  read(reading: Reading): Promise<void>
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

const secrets = ['password', 'ssha_password']

/**
 * Returns the fields of a mapping of rosters: the columns of a format, of all formats if none is given, and `role` for the
 * roles of each. Paths are in lower case, as the formats ignore case.
 */
export function mappedColumns(format: RosterFormat | null): MappedTo {
  const readers = (format === null ? rosterFormats : [format]).map((name) => formatReaders[name])
  const forms = readers.flatMap(({ tables }) => tables)
  const columns = new Map(
    [roleField, ...forms.flatMap((form) => form.columns)].map((name) => [
      name.toLowerCase(),
      { name, path: name.toLowerCase(), secret: secrets.includes(name.toLowerCase()) },
    ]),
  )
  const roles = [...new Set([...Object.keys(academyRoles), ...readers.flatMap((reader) => reader.roles)])]
  // `role` stands for `role1`, `role2` and so on.
  const isNumbered = (path: string) =>
    forms.some(({ pattern }) => pattern?.test(path) || pattern?.test(`${path}1`))
  return {
    columns: [...columns.values()],
    fieldOf(name) {
      const path = name.toLowerCase()
      const plain = plainName(path)
      const alike = [...columns.values()].filter((column) => plainName(column.path) === plain)
      const found = columns.get(path) ?? (alike.length === 1 ? alike[0] : undefined)
      return found ?? (isNumbered(path) ? { name: path, path, secret: false } : undefined)
    },
    faultOf({ path }, meaning) {
      if (!isRoleColumn(path) || roles.some((role) => role.toLowerCase() === meaning.toLowerCase()))
        return null
      const choices = Object.keys(academyRoles).join(', ')
      return `must be ${choices} or a role of the format, not ${JSON.stringify(meaning)}${suggestionText(meaning, roles)}`
    },
  }
}

function plainName(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '')
}
