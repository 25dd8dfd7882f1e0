import type { Caller } from '../../client/caller.ts'
import { platformName, type Target } from '../../config/target.ts'
import { type Call, calls } from '../../contract/calls.ts'
import { type School, schoolNamed } from '../../lms/oneroster-mapping.ts'
import type { Context } from '../command/context.ts'
import { nouns } from '../records/entries.ts'
import { openWriter } from '../records/write.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import { expectedRows } from '../targets/write-export.ts'
import { UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { createProgressLine } from '../terminal/progress-line.ts'
import { type AcademyReader, openAcademyReader } from './academy-reader.ts'
import { type OneRosterVersion, oneRosterFiles } from './oneroster-tables.ts'
import { type Counts, createPackage, type FormatWriter } from './package-writer.ts'
import { type ExportFormat, formatNames, type RosterPart, rosterParts, type Scope } from './roster.ts'
import { canvasFiles, canvasWriter } from './write-canvas.ts'
import { moodleFiles, moodleWriter } from './write-moodle.ts'
import { oneRosterWriter } from './write-oneroster.ts'

const partsOf: Readonly<Record<ExportFormat, readonly RosterPart[]>> = {
  oneroster: ['terms', 'users', 'courses', 'enrollments', 'grades'],
  canvas: ['terms', 'users', 'courses', 'groups', 'enrollments'],
  moodle: ['users', 'courses', 'groups', 'enrollments'],
}

/** Files of all formats; only a folder of such files is replaced. */
const known = new Set([
  ...['manifest', ...oneRosterFiles('1.2')].map((name) => `${name}.csv`),
  ...canvasFiles,
  ...moodleFiles,
])

interface RosterExport extends Scope {
  readonly format: ExportFormat
  /** Folder, or a file that ends in .zip. */
  readonly target: string
  readonly force: boolean
  readonly version: OneRosterVersion
  /** Null for the name and id of the academy or the profile. */
  readonly orgName: string | null
  readonly orgId: string | null
  /** Category of new courses in Moodle; null if none was given. */
  readonly category: string | null
}

/** Appears at its target completely or not at all. Throws a UsageError if the target exists, or the format lacks a part. */
export async function exportRoster(context: Context, wanted: RosterExport) {
  const { io, session } = context
  const { format, target, force, version } = wanted
  const parts = partsFor(wanted)
  const category = wanted.category ?? ''
  if (format === 'moodle' && parts.has('courses') && category === '') {
    throw new UsageError('--category is required: Moodle puts each new course into one', {
      hint: 'Give its number or its path: --category 1, or --category "Imported / 2026"',
    })
  }
  const reader = await openWriter(context)
  await requireLearnctl(session, reader.caller, 'roster export', io.signal)
  const academy = await openAcademyReader(reader, wanted)
  const to = await createPackage({ cwd: io.cwd, target, force, known })
  const line = await createProgressLine(io, 'rows', null)
  const count = (of: 'rows' | 'formulas') => to.tables.reduce((sum, table) => sum + table[of], 0)
  academy.onPage = () => line.update(count('rows'))
  const written = await writeParts(academy, parts, writer()).finally(() => line.stop())
  io.signal.throwIfAborted()
  const notes = [...written.notes, ...(await lostNotes(context, academy, reader.caller, wanted))]
  await to.finish()
  return {
    ...{ target, format, version: format === 'oneroster' ? version : null },
    files: to.tables.map(({ name, rows }) => ({ name, rows })),
    ...{ counts: written.counts, notes: [...notes, ...formulaNotes(count('formulas'))] },
  }

  function writer(): FormatWriter {
    if (format === 'canvas') return canvasWriter(academy, to, parts)
    if (format === 'moodle') return moodleWriter(academy, to, { parts, category })
    return oneRosterWriter(academy, to, { version, parts, org: orgOf(wanted, session.target()) })
  }
}

async function writeParts(academy: AcademyReader, parts: ReadonlySet<RosterPart>, writer: FormatWriter) {
  const { addCourse, addGroups, openPeople } = writer
  const all = { terms: academy.terms.length, courses: academy.courses.length }
  const counts = { ...all, users: 0, groups: 0, enrollments: 0 }
  if (addCourse || academy.isPart) {
    for await (const contents of academy.contents(addCourse ? parts : new Set())) {
      counts.enrollments += contents.enrolments.length
      counts.groups += contents.groups.length
      addCourse?.(contents)
    }
  }
  const groups = parts.has('groups') && !academy.isPart ? await academy.groupsOf(null) : []
  counts.groups += groups.length
  if (groups.length > 0) addGroups?.(groups)
  const addPerson = openPeople?.()
  if (addPerson) {
    for await (const person of academy.peopleOfCourses()) {
      counts.users += 1
      addPerson(person)
    }
  }
  const { notes, counts: own } = writer.finish()
  const written: Counts = { ...counts, ...own }
  const shown = rosterParts.flatMap((part) => (parts.has(part) ? [[part, written[part] ?? 0]] : []))
  return { notes, counts: Object.fromEntries(shown) as Counts }
}

function partsFor({ format, only }: RosterExport): ReadonlySet<RosterPart> {
  const held = partsOf[format]
  if (only.length === 0) return new Set(held)
  for (const part of only) {
    if (!held.some((each) => each === part)) {
      throw new UsageError(`--only ${part} is not supported: ${formatNames[format]} holds ${held.join(', ')}`)
    }
  }
  return new Set(held.filter((part) => only.includes(part)))
}

/** Returns the only organisation of a package: by the flags, else the name of the profile, host or database. */
function orgOf({ orgName, orgId }: RosterExport, target: Target): School {
  const place = target.kind === 'remote' ? platformName(target) : fileName(target.database)
  const school = schoolNamed(orgName ?? target.profile ?? place)
  return { ...school, ...(orgId !== null && { id: orgId }) }
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.\w+$/, '')
}

async function lostNotes(
  { io }: Context,
  academy: AcademyReader,
  caller: Caller,
  { format, only }: RosterExport,
): Promise<string[]> {
  const name = formatNames[format]
  // An export of some courses leaves out all other people, not only these.
  const { admins, analysts } = academy.isPart ? { admins: 0, analysts: 0 } : academy.leftOut
  const left = [
    ...(admins > 0 ? [pluralise(admins, 'admin')] : []),
    ...(analysts > 0 ? [pluralise(analysts, 'analyst')] : []),
  ]
  const people =
    left.length > 0
      ? [
          `${left.join(' and ')} without a course left out: a roster has the people of courses, and gives no rights`,
        ]
      : []
  if (only.length > 0) return people
  const courses = academy.isPart ? academy.courses.map(({ id }) => id) : []
  // Longer lists of references are refused.
  const query = courses.length > 0 && courses.length <= 100 ? { course_id: courses.join() } : {}
  const total = (list: Call, of: Readonly<Record<string, string>> = query) =>
    expectedRows({ io }, caller, list, of)
  const lost = [
    format === 'moodle' ? countOf(academy.terms.length, nouns.terms) : '',
    countOf(await total(calls.lessons.list), 'lesson'),
    countOf(await total(calls.progress.all), 'progress record'),
    format === 'oneroster' ? '' : countOf(await total(calls.grades.list), nouns.grades),
    format === 'oneroster' ? await allGroups() : '',
  ].filter((text) => text !== '')
  return [...people, ...(lost.length > 0 ? [`${name} does not hold ${lost.join(', ')}`] : [])]

  async function allGroups(): Promise<string> {
    const groups = countOf(await total(calls.groups.list), nouns.groups)
    if (groups === '' || academy.isPart) return groups
    const members = countOf(await total(calls.groups.memberships, {}), 'member')
    return members === '' ? groups : `${groups} with ${members}`
  }
}

/** Empty for zero, only the noun if the count is unknown. */
function countOf(count: number | null, noun: string): string {
  if (count === 0) return ''
  return count === null ? `${noun}s` : pluralise(count, noun)
}

function formulaNotes(count: number): string[] {
  if (count === 0) return []
  return [
    `${pluralise(count, 'cell')} would be a formula in a spreadsheet: the files are for systems, and not escaped`,
  ]
}

/** Without zeros: `2 courses, 40 enrolments`. */
export function countsText(counts: Counts): string {
  return rosterParts
    .flatMap((part) => (counts[part] ? [pluralise(counts[part], nouns[part])] : []))
    .join(', ')
}
