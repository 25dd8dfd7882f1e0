import { noName } from '../../lms/roster-conventions.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { users } from '../dataset/users.ts'
import { addSchemaProblems, entryOf, filled, namedColumns } from './entries.ts'
import type { RosterEntry } from './roster.ts'
import type { RosterRow } from './row.ts'
import type { TableForm } from './table.ts'
import { type Reading, requireUnique } from './walk.ts'

export interface RosterPerson {
  readonly externalId: string
  readonly email: string
  readonly username: string
  readonly firstName: string
  readonly lastName: string
  readonly displayName: string
  /** Role in an academy; undefined if the roster does not say: new users become learners. */
  readonly role?: string | undefined
  readonly isSuspended?: boolean
}

export interface PeopleTable {
  readonly key: string
  /** By the fields of a user that they fill; a format without addresses has no `email`. */
  readonly columns: PersonColumns
  /** Dataset of users with the names of these columns, for the words of problems. */
  readonly dataset: Dataset
}

interface PersonColumns extends Readonly<Record<string, string>> {
  readonly externalId: string
  readonly username: string
}

export function peopleTable(
  { key: [key = ''] }: Pick<TableForm, 'key'>,
  columns: PersonColumns,
): PeopleTable {
  return { key, columns, dataset: namedColumns(users, columns) }
}

const { email: emailSchema, username: usernameSchema } = users.schema.shape

/**
 * Returns the entry of a person, whose fields are those of the columns unless given. The address is that of the file, else
 * the user name if it is one, else made of the user name and the domain of the options.
 */
export function personEntries(
  reading: Reading,
  row: RosterRow,
  table: PeopleTable,
  given: Partial<RosterPerson>,
): readonly RosterEntry[] {
  const { dataset, columns } = table
  const text = (field: string) => (columns[field] === undefined ? '' : row.text(columns[field]))
  const person = {
    externalId: text('externalId'),
    email: text('email'),
    username: text('username'),
    firstName: text('profile.firstName'),
    lastName: text('profile.lastName'),
    displayName: text('profile.displayName'),
    ...given,
  }
  const email = addressOf(reading, row, columns, person)
  const username = usernameOf(row, person)
  const { externalId, role = '', isSuspended, firstName, lastName, displayName } = person
  const profile = filled({ firstName, lastName, displayName })
  const record = filled({
    ...{ externalId, email: email ?? '', username, role },
    status: isSuspended === undefined ? '' : isSuspended ? 'suspended' : 'active',
    ...(Object.keys(profile).length > 0 && { profile }),
  })
  if (email !== null) addSchemaProblems(row, dataset, record)
  requireOwn(reading, row, table, { externalId, email: email ?? '', username })
  return [entryOf('users', record, row)]
}

/** Adds a problem for each value that another person of the roster has. */
function requireOwn(
  reading: Reading,
  row: RosterRow,
  { key, columns }: PeopleTable,
  { externalId, email, username }: Pick<RosterPerson, 'externalId' | 'email' | 'username'>,
): void {
  const require = (column: string, value: string, name: string) => {
    if (value !== '') requireUnique(reading, { column, value, name }, row)
  }
  require(columns['email'] ?? columns.username, email.toLowerCase(), 'address')
  require(columns.username, username, 'user name')
  if (columns.externalId !== key) require(columns.externalId, externalId, 'id')
}

/** Returns null after it added a problem. */
function addressOf(
  { options: { emailDomain } }: Reading,
  row: RosterRow,
  columns: PersonColumns,
  { email, username, externalId }: RosterPerson,
): string | null {
  if (email !== '') return email
  if (emailSchema.safeParse(username).success) {
    row.addLeniency(`addresses are read from ${columns.username}`)
    return username
  }
  if (emailDomain === null) {
    const column = columns['email'] ?? null
    const message = column === null ? 'has no e-mail address' : 'is required'
    row.addProblem(column, 'no_address', `${message}: an academy knows people by their address`)
    return null
  }
  const name = username || externalId
  const made = `${name}@${emailDomain}`.toLowerCase()
  if (!emailSchema.safeParse(made).success) {
    row.addProblem(
      columns.username,
      'no_address',
      `cannot be part of an e-mail address at ${emailDomain}`,
      name,
    )
    return null
  }
  row.addLeniency(`people without an address get one at ${emailDomain}`)
  return made
}

/** Returns a name; empty for the sign that exports write where there is none. */
export function nameIn(row: RosterRow, column: string): string {
  const name = row.text(column)
  if (name !== noName) return name
  row.addLeniency(`names of ${noName} are read as empty`)
  return ''
}

/** Returns the user name; empty for the e-mail address, which exports write where a format requires a user name. */
function usernameOf(row: RosterRow, { username, email }: RosterPerson): string {
  if (username.toLowerCase() === email.toLowerCase()) return ''
  if (username === '' || usernameSchema.safeParse(username).success) return username
  row.addLeniency('user names with other characters are left out', username)
  return ''
}
