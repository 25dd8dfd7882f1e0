import { type CsvRow, listIn, type Reading, walk } from './reading.ts'
import { enrollmentEntry, entryOf, peopleForm, personEntry, personIn } from './records.ts'
import {
  type AcademyRole,
  academyRoles,
  leftOutByMapping,
  namesOfRoles,
  type RosterEntry,
  roleMeanings,
} from './roster.ts'
import type { TableForm } from './table.ts'

export const kolibriTables = {
  users: {
    ...{ name: 'users', part: 'users', noun: 'user', key: ['USERNAME'], required: [] },
    columns: [
      ...['UUID', 'USERNAME', 'PASSWORD', 'FULL_NAME', 'USER_TYPE', 'IDENTIFIER', 'BIRTH_YEAR', 'GENDER'],
      ...['ENROLLED_IN', 'ASSIGNED_TO'],
    ],
    shownBy: [
      ['USERNAME', 'FULL_NAME'],
      ['USERNAME', 'USER_TYPE'],
    ],
  },
} as const satisfies Readonly<Record<string, TableForm>>

const people = peopleForm('USERNAME', {
  externalId: 'UUID',
  username: 'USERNAME',
  'profile.displayName': 'FULL_NAME',
})

const roles: ReadonlyMap<string, AcademyRole> = new Map([
  ...Object.entries(academyRoles),
  // A roster gives no right to change an academy.
  ...namesOfRoles({ instructor: 'class_coach facility_coach', analyst: 'admin superuser' }),
])
export const kolibriRoles = [...roles.keys()]

export async function readKolibri(reading: Reading): Promise<void> {
  /** Names as first written, by their lower case: Kolibri ignores case. */
  const classes = new Map<string, string>()
  await walk(reading, kolibriTables.users, {
    hasOtherParts: true,
    isRemoved: () => false,
    entriesOf: (row) => userOf(reading, row, classes),
  })
}

function userOf(reading: Reading, row: CsvRow, classes: Map<string, string>): readonly RosterEntry[] {
  const username = row.text('USERNAME')
  const externalId = row.text('UUID') || username
  const type = row.text('USER_TYPE')
  const role = roles.get(type.toLowerCase() || 'learner')
  if (role === undefined) {
    const message = 'must be LEARNER, CLASS_COACH, FACILITY_COACH or ADMIN'
    row.addChoiceProblem('USER_TYPE', type, message, roleMeanings)
  }
  if (role === null) return row.leaveOut(leftOutByMapping)
  if (role === 'analyst') row.addLeniency('administrators become analysts', type)
  if (!['', '*'].includes(row.text('PASSWORD'))) row.addLeniency('passwords are left out')
  const person = personEntry(reading, row, people, { ...personIn(row, people), externalId, role })
  const courses: RosterEntry[] = []
  const enrol = (column: string, role: string) =>
    listIn(row.text(column)).map((name) => {
      const known = classes.get(name.toLowerCase())
      if (known === undefined) {
        classes.set(name.toLowerCase(), name)
        courses.push(entryOf('courses', { externalId: name, title: name }, row))
      } else if (known !== name) row.addLeniency('names of classes are spelled in several ways', name)
      const place = { courseId: `ext:${known ?? name}`, userId: `ext:${externalId}` }
      return enrollmentEntry(row, { ...place, role, status: 'active' })
    })
  const learning = enrol('ENROLLED_IN', 'learner')
  const isLearner = role === 'learner'
  if (isLearner && row.text('ASSIGNED_TO') !== '')
    row.addLeniency('learners are not assigned to classes as coaches')
  const teaching = isLearner ? [] : enrol('ASSIGNED_TO', 'instructor')
  return [person, ...courses, ...learning, ...teaching]
}
