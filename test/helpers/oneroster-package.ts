import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Size of a package, and what is odd about it: one row of so many. */
export interface PackageOptions {
  readonly users: number
  readonly enrollments: number
  /** Row of a user that has the role `Student` (default none). */
  readonly misspelledRole?: number
  /** Row of a user that is there twice. */
  readonly repeatedUser?: number
  /** Row of an enrolment with a filled status in a bulk file. */
  readonly filledStatus?: number
  /** Row of a user in a school that the package lacks. */
  readonly unknownSchool?: number
}

const classSize = 25
const teacherEvery = 20
const schools = 20

/** Returns an id in the form of a GUID, the same for the same kind and number. */
function idOf(kind: number, number: number): string {
  const scattered = (Math.imul(number + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')
  return `${scattered}-0000-4000-8${kind.toString().padStart(3, '0')}-${number.toString(16).padStart(12, '0')}`
}

function isEvery(row: number, every: number | undefined): boolean {
  return every !== undefined && row % every === every - 1
}

/** Files of a OneRoster 1.1 package by name, as text in pieces; the same for the same options. */
export function oneRosterPackage(options: PackageOptions): ReadonlyMap<string, () => Iterable<string>> {
  const classes = Math.ceil(options.enrollments / classSize)
  const names = ['academicSessions', 'classes', 'courses', 'enrollments', 'orgs', 'users']
  return new Map<string, () => Iterable<string>>([
    [
      'manifest.csv',
      () => [
        'propertyName,value\r\nmanifest.version,1.0\r\noneroster.version,1.1\r\n',
        ...names.map((name) => `file.${name},bulk\r\n`),
        'source.systemName,Generated SIS\r\nsource.systemCode,GEN\r\n',
      ],
    ],
    [
      'orgs.csv',
      () =>
        rows('sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId', schools, (row) => [
          `${idOf(1, row)},,,School ${row},school,${row},`,
        ]),
    ],
    [
      'academicSessions.csv',
      () =>
        rows(
          'sourcedId,status,dateLastModified,title,type,startDate,endDate,parentSourcedId,schoolYear',
          2,
          (row) => [
            `${idOf(2, row)},,,Semester ${row + 1},semester,2026-0${row * 6 + 1}-01,2026-0${row * 6 + 1}-28,,2026`,
          ],
        ),
    ],
    [
      'courses.csv',
      () =>
        rows(
          'sourcedId,status,dateLastModified,schoolYearSourcedId,title,courseCode,grades,orgSourcedId,subjects,subjectCodes',
          100,
          (row) => [
            `${idOf(3, row)},,,,Course ${row},C${row},"09,10",${idOf(1, row % schools)},"biology, chemistry",`,
          ],
        ),
    ],
    [
      'classes.csv',
      () =>
        rows(
          'sourcedId,status,dateLastModified,title,grades,courseSourcedId,classCode,classType,location,schoolSourcedId,termSourcedIds,subjects,subjectCodes,periods',
          classes,
          (row) => [
            `${idOf(4, row)},,,Class ${row},09,${idOf(3, row % 100)},K${row},scheduled,Room ${row % 90},${idOf(1, row % schools)},${idOf(2, row % 2)},,,"1,3"`,
          ],
        ),
    ],
    ['users.csv', () => users(options)],
    ['enrollments.csv', () => enrollments(options, classes)],
  ])
}

function users(options: PackageOptions): Iterable<string> {
  const header =
    'sourcedId,status,dateLastModified,enabledUser,orgSourcedIds,role,username,userIds,givenName,familyName,middleName,identifier,email,sms,phone,agentSourcedIds,grades,password'
  return rows(header, options.users, (row) => {
    const isTeacher = row % teacherEvery === 0
    const role = isTeacher ? 'teacher' : isEvery(row, options.misspelledRole) ? 'Student' : 'student'
    const school = isEvery(row, options.unknownSchool) ? 'no-school' : idOf(1, row % schools)
    const line = `${idOf(5, row)},,,true,${school},${role},user${row},{LDAP:user${row}},Given ${row},"Family, ${row}",,S${row},user${row}@school${row % schools}.example,,,,09,`
    return isEvery(row, options.repeatedUser) ? [line, line] : [line]
  })
}

function enrollments(options: PackageOptions, classes: number): Iterable<string> {
  const header =
    'sourcedId,status,dateLastModified,classSourcedId,schoolSourcedId,userSourcedId,role,primary,beginDate,endDate'
  return rows(header, options.enrollments, (row) => {
    const number = Math.floor(row / classSize)
    const isTeacher = row % classSize === 0
    // The users of a class are neighbours, so that none is there twice.
    const place = (number * classSize + (row % classSize)) % options.users
    const user = isTeacher ? place - (place % teacherEvery) : place
    const status = isEvery(row, options.filledStatus) ? 'active' : ''
    const role = isTeacher ? 'teacher' : 'student'
    return [
      `${idOf(6, row)},${status},,${idOf(4, number % classes)},${idOf(1, number % schools)},${idOf(5, user)},${role},${isTeacher},2026-01-08,`,
    ]
  })
}

function* rows(header: string, count: number, lines: (row: number) => readonly string[]): Generator<string> {
  let piece = `${header}\r\n`
  for (let row = 0; row < count; row += 1) {
    for (const line of lines(row)) piece += `${line}\r\n`
    if (piece.length < 64 * 1024) continue
    yield piece
    piece = ''
  }
  yield piece
}

/** Writes a package to a folder, and returns the paths of its files. */
export async function writePackage(folder: string, options: PackageOptions): Promise<string[]> {
  mkdirSync(folder, { recursive: true })
  const paths: string[] = []
  for (const [name, text] of oneRosterPackage(options)) {
    const path = join(folder, name)
    await pipeline(Readable.from(text()), createWriteStream(path))
    paths.push(path)
  }
  return paths
}
