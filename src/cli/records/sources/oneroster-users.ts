import { CellError, readCell } from '../../dataset/cell.ts'
import type { Dataset } from '../../dataset/dataset.ts'
import { users } from '../../dataset/users.ts'
import { UsageError } from '../../terminal/errors.ts'
import { csvTable } from './csv.ts'
import { type ImportFile, sentence } from './file.ts'
import { createLeniencies, type Leniencies } from './leniencies.ts'
import { createNameTable } from './name-table.ts'
import type { Row, RowProblem, Rows } from './rows.ts'

/** Files of a OneRoster package (CSV binding, 1.1 or 1.2) that describe users. */
export interface OneRosterUserFiles {
  readonly users: ImportFile
  /** Roles of users in 1.2; null in 1.1, whose users have a column `role`. */
  readonly roles: ImportFile | null
  /** What `manifest.csv` says of the users; null if it is missing. */
  readonly mode: 'bulk' | 'delta' | null
}

/** Row of `users.csv`. */
export interface OneRosterUser extends Row {
  /** True if the package says that the user is gone: the record only suspends the user. */
  readonly isRemoved: boolean
  /** Ids in other systems, `{LDAP:smith23}`. */
  readonly otherIds: readonly { readonly type: string; readonly identifier: string }[]
}

/** Users of a package. */
export interface OneRosterUsers extends Rows {
  readonly rows: AsyncIterable<readonly OneRosterUser[]>
  /** Returns what was read leniently or left out, with counts; complete after all rows have been read. */
  notes(): readonly string[]
}

/** Columns of both versions with the fields that they fill. */
const pathByColumn = {
  ...{ sourcedId: 'externalId', status: null, dateLastModified: null, enabledUser: 'status' },
  ...{ orgSourcedIds: null, role: 'role', username: 'username', userIds: null },
  ...{ givenName: 'profile.firstName', familyName: 'profile.lastName', middleName: null },
  ...{ identifier: null, email: 'email', sms: null, phone: null, agentSourcedIds: null, grades: null },
  ...{ password: null, userMasterIdentifier: null, preferredGivenName: 'profile.displayName' },
  ...{ preferredMiddleName: null, preferredFamilyName: null, primaryOrgSourcedId: null, pronouns: null },
} as const
type ColumnName = keyof typeof pathByColumn
const columnNames = Object.keys(pathByColumn) as readonly ColumnName[]
const columnByName = new Map<string, ColumnName>([
  ...columnNames.map((name) => [name.toLowerCase(), name] as const),
  // Some systems spell it so.
  ['prefferedgivenname', 'preferredGivenName'],
])

/** Dataset of users whose columns have the names of `users.csv`, for the words of problems. */
export const oneRosterUserDataset: Dataset = {
  ...users,
  columns: users.columns.map((column) => ({
    ...column,
    name: columnNames.find((name) => pathByColumn[name] === column.path) ?? column.name,
  })),
}

/** Roles of both versions as roles in an academy, the preferred first; null for people without one. */
const roles = new Map([
  ...['teacher', 'aide', 'proctor', 'counselor'].map((name) => [name, 'instructor'] as const),
  // A roster gives no right to change an academy.
  ...['administrator', 'principal', 'districtAdministrator', 'siteAdministrator', 'systemAdministrator'].map(
    (name) => [name, 'analyst'] as const,
  ),
  ['student', 'learner'],
  ...['guardian', 'parent', 'relative'].map((name) => [name, null] as const),
])
const roleNames = [...roles.keys()]

/**
 * Reads the users of a OneRoster package; `sourcedId` is the external id. Reads what the specification forbids if its
 * meaning is clear, and counts it in a note. Passwords are left out. Throws a UsageError if a file is no CSV or lacks
 * `sourcedId`.
 */
export async function oneRosterUsers({
  users: file,
  roles,
  mode,
}: OneRosterUserFiles): Promise<OneRosterUsers> {
  const leniencies = createLeniencies(file.name)
  const roleByUser = roles && (await readRoles(roles))
  const { header, records } = await csvTable(file)
  const names = header.map((text) => columnIn(text, leniencies))
  const places = new Map(names.map((name, index) => [name, index]))
  if (!places.has('sourcedId')) {
    const why = [`Columns: ${header.join(', ')}`]
    throw new UsageError(`${sentence(file.name)} has no column sourcedId`, { code: 'missing_column', why })
  }
  const lastLines = await lastLinesOf(file, places.get('sourcedId') ?? 0)
  for (const [id, line] of lastLines)
    leniencies.add('several rows of one user; read the last', `${id} in line ${line}`)

  function userOf(line: number, cells: readonly string[]): OneRosterUser | null {
    const cellOf = (name: ColumnName) => cells[places.get(name) ?? -1]?.trim() ?? ''
    const id = cellOf('sourcedId')
    if ((lastLines.get(id) ?? line) !== line) return null
    const row = { line, cells, isRemoved: false, otherIds: otherIdsIn(cellOf('userIds'), leniencies) }
    if (cells.length !== header.length) {
      const message = `has ${cells.length} cells, but the header has ${header.length}`
      return { ...row, record: {}, problems: [{ column: null, code: 'ragged_row', message }] }
    }
    const problems: RowProblem[] = []
    if (id === '') problems.push({ column: 'sourcedId', code: 'required', message: 'is required' })
    const externalId = id === '' ? {} : { externalId: id }
    if (isRemoved(cellOf, mode, leniencies)) {
      return { ...row, record: { ...externalId, status: 'suspended' }, problems, isRemoved: true }
    }
    const role = roleIn(roleByUser ? (roleByUser.get(id) ?? '') : cellOf('role'), leniencies)
    if (role === null) return null
    const status = statusIn(cellOf('enabledUser'), problems, leniencies)
    return {
      ...row,
      record: { ...externalId, ...role, ...status, ...accountIn(cellOf, leniencies) },
      problems,
    }
  }

  async function* rows(): AsyncGenerator<readonly OneRosterUser[]> {
    for await (const some of records) yield some.flatMap(({ line, cells }) => userOf(line, cells) ?? [])
  }
  const paths = names.flatMap((name) => (name && pathByColumn[name]) ?? [])
  return { header, paths: new Set(paths), rows: rows(), notes: leniencies.notes }
}

/** Returns the column that a header names; null for an unknown one. */
function columnIn(text: string, leniencies: Leniencies): ColumnName | null {
  const name = columnByName.get(text.toLowerCase()) ?? null
  if (name !== null && name !== text) leniencies.add('columns are not spelled as specified', text)
  if (name === null && !/^metadata\./i.test(text)) leniencies.add('unknown columns are left out', text)
  return name
}

/** Returns the last line of each user that a file has several times. */
async function lastLinesOf(file: ImportFile, place: number): Promise<ReadonlyMap<string, number>> {
  const firstLines = createNameTable(file.lines)
  const lastLines = new Map<string, number>()
  for await (const some of (await csvTable(file)).records) {
    for (const { line, cells } of some) {
      const id = cells[place]?.trim() ?? ''
      if (id !== '' && firstLines.add([id], line) !== undefined) lastLines.set(id, line)
    }
  }
  return lastLines
}

/** Reads the role of each user from `roles.csv`: a primary one, else any, of several the one preferred in `roles`. */
async function readRoles(file: ImportFile): Promise<ReadonlyMap<string, string>> {
  const { header, records } = await csvTable(file)
  const names = header.map((name) => name.toLowerCase())
  const found = new Map<string, { readonly role: string; readonly rank: number }>()
  for await (const some of records) {
    for (const { cells } of some) {
      const [user = '', role = '', type, status] = ['usersourcedid', 'role', 'roletype', 'status'].map(
        (name) => cells[names.indexOf(name)]?.trim(),
      )
      if (status?.toLowerCase() === 'tobedeleted') continue
      const place = roleNames.findIndex((name) => name.toLowerCase() === role.toLowerCase())
      const rank = (type?.toLowerCase() === 'primary' ? 0 : 100) + (place < 0 ? 99 : place)
      if (rank < (found.get(user)?.rank ?? Number.POSITIVE_INFINITY)) found.set(user, { role, rank })
    }
  }
  return new Map([...found].map(([user, { role }]) => [user, role]))
}

type CellOf = (name: ColumnName) => string

/** True for a user who is gone. In a bulk file `status` has to be empty, in a delta file `active` or `tobedeleted`. */
function isRemoved(cellOf: CellOf, mode: OneRosterUserFiles['mode'], leniencies: Leniencies): boolean {
  const status = cellOf('status')
  const isFilled = status !== '' || cellOf('dateLastModified') !== ''
  if (mode === 'bulk' && isFilled) leniencies.add('status or dateLastModified is filled in a bulk file')
  if (mode === 'delta' && status === '') leniencies.add('status is empty in a delta file; read as active')
  if (!['active', 'tobedeleted', ''].includes(status)) leniencies.add('status is not as specified', status)
  return status.toLowerCase() === 'tobedeleted'
}

/** Returns the role in an academy; none if the package has no known one, null for people without a role. */
function roleIn(text: string, leniencies: Leniencies): { readonly role?: string } | null {
  const name = roleNames.find((each) => each.toLowerCase() === text.toLowerCase()) ?? ''
  const role = roles.get(name)
  if (text === '') leniencies.add('users have no role; new ones become learners')
  else if (role === undefined) leniencies.add('unknown roles; new users become learners', text)
  else if (name !== text) leniencies.add('roles are not spelled as specified', text)
  if (role === 'analyst') leniencies.add('administrators become analysts', name)
  if (role === null) leniencies.add('people without a role in an academy are left out', name)
  return role === null ? null : role === undefined ? {} : { role }
}

/** Reads `enabledUser`, `true` or `false`; other words for these are accepted. */
function statusIn(
  cell: string,
  problems: RowProblem[],
  leniencies: Leniencies,
): { readonly status?: string } {
  if (cell !== 'true' && cell !== 'false') leniencies.add('enabledUser is not true or false', cell || 'empty')
  try {
    const isEnabled = readCell({ kind: 'switch' }, cell || 'true', { now: Number.NaN })
    return { status: isEnabled ? 'active' : 'suspended' }
  } catch (error) {
    if (!(error instanceof CellError)) throw error
    problems.push({ column: 'enabledUser', value: cell, code: 'invalid_type', message: error.message })
    return {}
  }
}

/** Returns the addresses and names of a user, without empty ones. */
function accountIn(cellOf: CellOf, leniencies: Leniencies): object {
  const { email, username } = users.schema.shape
  const name = cellOf('username')
  const isAddress = cellOf('email') === '' && email.safeParse(name).success
  if (isAddress) leniencies.add('email is empty and read from username')
  const isUsable = username.safeParse(name).success
  if (name !== '' && !isUsable) leniencies.add('username has other characters and is left out', name)
  if (cellOf('password') !== '') leniencies.add('password is left out')
  const [firstName, lastName] = [cellOf('givenName'), cellOf('familyName')]
  const [given, family] = [cellOf('preferredGivenName'), cellOf('preferredFamilyName')]
  const displayName = given || family ? `${given || firstName} ${family || lastName}`.trim() : ''
  return filled({
    email: isAddress ? name : cellOf('email'),
    username: isUsable ? name : '',
    profile: filled({ firstName, lastName, displayName }),
  })
}

function filled(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== ''))
}

/** Reads `{LDAP:smith23},{LTI:x1}`. */
function otherIdsIn(cell: string, leniencies: Leniencies): OneRosterUser['otherIds'] {
  const pattern = /\{([^{}:]*):([^{}]*)\}/g
  if (!/^[,\s]*$/.test(cell.replace(pattern, ''))) leniencies.add('userIds are not written {type:id}', cell)
  return [...cell.matchAll(pattern)].map(([, type = '', id = '']) => ({
    type: type.trim(),
    identifier: id.trim(),
  }))
}
