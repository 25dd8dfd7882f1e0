import { csvTable } from '../records/sources/csv.ts'
import type { ImportFile } from '../records/sources/file.ts'
import { type CsvRow, type Reading, type RowReader, walk } from './reading.ts'
import type { RosterFindings, RosterMode } from './roster.ts'
import type { TableForm, TableReference } from './table.ts'

/** Versions of the CSV binding of 1EdTech. */
export const oneRosterVersions = ['1.1', '1.2'] as const
export type OneRosterVersion = (typeof oneRosterVersions)[number]

export type OneRosterTable =
  | 'orgs'
  | 'academicSessions'
  | 'roles'
  | 'users'
  | 'courses'
  | 'classes'
  | 'enrollments'
  | 'categories'
  | 'lineItems'
  | 'results'

const head = 'sourcedId,status,dateLastModified,'
const users = 'identifier,email,sms,phone,agentSourcedIds,grades,password'
const names = 'username,userIds,givenName,familyName,middleName,'
const items = 'title,description,assignDate,dueDate,classSourcedId,categorySourcedId,'

/** Header of each file as published, by version; null if the version has no such file. */
const headers: Readonly<Record<OneRosterTable, Readonly<Record<OneRosterVersion, string | null>>>> = {
  orgs: same('name,type,identifier,parentSourcedId'),
  academicSessions: same('title,type,startDate,endDate,parentSourcedId,schoolYear'),
  roles: {
    '1.1': null,
    '1.2': 'userSourcedId,roleType,role,beginDate,endDate,orgSourcedId,userProfileSourcedId',
  },
  users: {
    '1.1': `enabledUser,orgSourcedIds,role,${names}${users}`,
    '1.2': `enabledUser,${names}${users},userMasterIdentifier,preferredGivenName,preferredMiddleName,preferredFamilyName,primaryOrgSourcedId,pronouns`,
  },
  courses: same('schoolYearSourcedId,title,courseCode,grades,orgSourcedId,subjects,subjectCodes'),
  classes: same(
    'title,grades,courseSourcedId,classCode,classType,location,schoolSourcedId,termSourcedIds,subjects,subjectCodes,periods',
  ),
  enrollments: same('classSourcedId,schoolSourcedId,userSourcedId,role,primary,beginDate,endDate'),
  categories: { '1.1': 'title', '1.2': 'title,weight' },
  lineItems: {
    '1.1': `${items}gradingPeriodSourcedId,resultValueMin,resultValueMax`,
    '1.2': `${items}academicSessionSourcedId,resultValueMin,resultValueMax,schoolSourcedId`,
  },
  results: {
    '1.1': 'lineItemSourcedId,studentSourcedId,scoreStatus,score,scoreDate,comment',
    '1.2':
      'lineItemSourcedId,studentSourcedId,scoreStatus,score,scoreDate,comment,textScore,classSourcedId,inProgress,incomplete,late,missing',
  },
}

export const otherOneRosterFiles = [
  ...['classResources', 'courseResources', 'demographics', 'resources', 'userProfiles', 'userResources'],
  ...['lineItemLearningObjectiveIds', 'lineItemScoreScales', 'resultLearningObjectiveIds'],
  ...['resultScoreScales', 'scoreScales'],
] as const

const newIn12: readonly string[] = [
  ...['roles', 'userProfiles', 'userResources', 'lineItemLearningObjectiveIds', 'lineItemScoreScales'],
  ...['resultLearningObjectiveIds', 'resultScoreScales', 'scoreScales'],
]

export function oneRosterFiles(version: OneRosterVersion): readonly string[] {
  const all = [...Object.keys(headers), ...otherOneRosterFiles].sort()
  return version === '1.2' ? all : all.filter((name) => !newIn12.includes(name))
}

function same(text: string): Readonly<Record<OneRosterVersion, string>> {
  return { '1.1': text, '1.2': text }
}

export function oneRosterColumns(table: OneRosterTable, version: OneRosterVersion): readonly string[] {
  const columns = headers[table][version]
  return columns === null ? [] : `${head}${columns}`.split(',')
}

function allColumns(table: OneRosterTable): string[] {
  return [...new Set(oneRosterVersions.flatMap((version) => oneRosterColumns(table, version)))]
}

/** Columns as some systems spell them. */
const misspelled = {
  datalastmodified: 'dateLastModified',
  prefferedgivenname: 'preferredGivenName',
  prefferedmiddlename: 'preferredMiddleName',
  prefferedfamilyname: 'preferredFamilyName',
}

function form(
  name: OneRosterTable,
  given: Pick<TableForm, 'part' | 'noun' | 'required' | 'shownBy'> & {
    readonly references?: readonly TableReference[]
  },
): TableForm {
  return {
    name,
    columns: allColumns(name),
    key: ['sourcedId'],
    aliases: misspelled,
    // Extensions that the specification allows.
    pattern: /^metadata\./,
    ...given,
    shownBy: given.shownBy.map((set) => ['sourcedId', ...set]),
  }
}

const org = (column: string): TableReference => ({ column, to: 'orgs', isWarning: true })
const orgs = (column: string): TableReference => ({ ...org(column), isList: true })

/** Tables of OneRoster, in the order in which they are read: each refers to earlier ones, or to itself. */
export const oneRosterTables: Readonly<Record<OneRosterTable, TableForm>> = {
  orgs: form('orgs', {
    ...{ part: null, noun: 'organisation', required: ['name'] },
    shownBy: [['name', 'type', 'identifier']],
    references: [org('parentSourcedId')],
  }),
  academicSessions: form('academicSessions', {
    ...{ part: 'terms', noun: 'session', required: ['title', 'startDate', 'endDate'] },
    shownBy: [['title', 'startDate', 'endDate']],
    references: [{ column: 'parentSourcedId', to: 'academicSessions', isWarning: true }],
  }),
  roles: form('roles', {
    ...{ part: null, noun: 'role', required: ['userSourcedId', 'role'] },
    shownBy: [['userSourcedId', 'roleType']],
    references: [org('orgSourcedId')],
  }),
  users: form('users', {
    ...{ part: 'users', noun: 'user', required: [] },
    shownBy: [
      ['enabledUser', 'username'],
      ['givenName', 'familyName'],
    ],
    references: [orgs('orgSourcedIds'), org('primaryOrgSourcedId')],
  }),
  courses: form('courses', {
    ...{ part: 'courses', noun: 'course', required: ['title'] },
    shownBy: [['title', 'courseCode', 'orgSourcedId']],
    references: [
      org('orgSourcedId'),
      { column: 'schoolYearSourcedId', to: 'academicSessions', isWarning: true },
    ],
  }),
  classes: form('classes', {
    ...{ part: 'courses', noun: 'class', required: ['title'] },
    shownBy: [['title', 'courseSourcedId']],
    references: [
      { column: 'courseSourcedId', to: 'courses', isWarning: true },
      { column: 'termSourcedIds', to: 'academicSessions', isList: true },
      org('schoolSourcedId'),
    ],
  }),
  enrollments: form('enrollments', {
    ...{ part: 'enrollments', noun: 'enrolment', required: ['classSourcedId', 'userSourcedId', 'role'] },
    shownBy: [['classSourcedId', 'userSourcedId']],
    references: [
      { column: 'classSourcedId', to: 'classes' },
      { column: 'userSourcedId', to: 'users' },
      org('schoolSourcedId'),
    ],
  }),
  categories: form('categories', {
    ...{ part: null, noun: 'category', required: ['title'] },
    shownBy: [['title', 'weight']],
  }),
  lineItems: form('lineItems', {
    ...{ part: null, noun: 'line item', required: ['title', 'classSourcedId'] },
    shownBy: [['title', 'classSourcedId', 'resultValueMax']],
    references: [
      { column: 'classSourcedId', to: 'classes' },
      { column: 'categorySourcedId', to: 'categories', isWarning: true },
    ],
  }),
  results: form('results', {
    ...{ part: 'grades', noun: 'result', required: ['lineItemSourcedId', 'studentSourcedId'] },
    shownBy: [['lineItemSourcedId', 'studentSourcedId']],
    references: [
      { column: 'lineItemSourcedId', to: 'lineItems' },
      { column: 'studentSourcedId', to: 'users' },
    ],
  }),
}

/** Without classes, references to classes are to courses. */
export function readTable(
  reading: Reading,
  name: OneRosterTable,
  entriesOf: RowReader['entriesOf'],
  more: Pick<RowReader, 'removedNeeds'> = {},
): Promise<void> {
  const form = oneRosterTables[name]
  const hasCoursesOnly = !reading.files.has('classes') && reading.files.has('courses')
  const references = (form.references ?? []).map((each) =>
    hasCoursesOnly && each.to === 'classes' ? { ...each, to: 'courses' } : each,
  )
  const isRemoved = (row: CsvRow) => isRemovedIn(reading, name, row)
  return walk(reading, { ...form, references }, { ...more, entriesOf, isRemoved })
}

const statuses = ['active', 'tobedeleted']
const filledText = 'status or dateLastModified is filled in a bulk file'

export function isRemovedClass(reading: Reading, id: string): boolean {
  return reading.isRemovedRow(reading.files.has('classes') ? 'classes' : 'courses', id)
}

function isRemovedIn(reading: Reading, table: OneRosterTable, row: CsvRow): boolean {
  const [status, modified] = [row.text('status'), row.text('dateLastModified')]
  const isDelta = reading.mode(table) === 'delta'
  if (isDelta && status === '') row.addLeniency('status is empty in a delta file; read as active')
  if (!isDelta && (status !== '' || modified !== '')) row.addLeniency(filledText)
  const meaning = status.toLowerCase()
  if (!['', ...statuses].includes(meaning))
    row.addChoiceProblem('status', status, 'must be active or tobedeleted', statuses)
  else if (meaning !== status) row.addLeniency('status is not spelled as specified', status)
  return meaning === 'tobedeleted'
}

export type Manifest = Awaited<ReturnType<typeof readManifest>>

const modes: readonly string[] = ['bulk', 'delta', 'absent']

export function isManifest(header: readonly string[]): boolean {
  const [name = '', value = ''] = header.map((text) => text.toLowerCase())
  return name === 'propertyname' && value === 'value'
}

/** Names of properties are compared without case. */
export async function readManifest(file: ImportFile) {
  const properties = new Map<
    string,
    { readonly value: string; readonly line: number; readonly name: string }
  >()
  for await (const some of (await csvTable(file)).records) {
    for (const { line, cells } of some) {
      const [name = '', value = ''] = cells.map((cell) => cell.trim())
      properties.set(name.toLowerCase(), { name, value, line })
    }
  }
  const textOf = (name: string) => properties.get(name.toLowerCase())?.value || null
  const isMode = (value: string | null): value is RosterMode | 'absent' => modes.includes(value ?? '')
  /** Null if the manifest does not name the table. */
  const modeOf = (table: string) => {
    const mode = textOf(`file.${table}`)?.toLowerCase() ?? null
    return isMode(mode) ? mode : null
  }
  return {
    version: textOf('oneroster.version'),
    // Some systems write the version of the files.
    systemName: textOf('source.systemName')?.replace(/^absent$/i, '') || null,
    modeOf,
    /** Checks files, too, that the manifest names and the package lacks. */
    check(findings: RosterFindings, has: (table: string) => boolean) {
      const version = textOf('oneroster.version')
      const versions: readonly string[] = oneRosterVersions
      if (version === null || !versions.includes(version)) {
        findings.addLeniency(file.name, 'oneroster.version is neither 1.1 nor 1.2', version ?? 'missing')
      }
      for (const { name, value, line } of properties.values()) {
        if (!/^file\./i.test(name)) continue
        if (value === '') {
          findings.addLeniency(file.name, 'files without a mode are read as absent if they are missing', name)
          continue
        }
        const table = name.slice('file.'.length)
        const place = { file: file.name, line }
        if (!modes.includes(value.toLowerCase())) {
          const message = 'must be bulk, delta or absent'
          findings.addProblem(place, { ...place, column: 'value', value, code: 'invalid_choice', message })
          continue
        }
        if (!modes.includes(value)) {
          findings.addLeniency(file.name, 'modes are not spelled as specified', value)
        }
        if (value.toLowerCase() !== 'absent' && !has(table)) {
          const message = `names ${table}.csv, which is missing; mark it absent`
          findings.addProblem(place, { ...place, column: name, value, code: 'missing_file', message })
        }
      }
    },
  }
}
