import { basename, join } from 'node:path'
import { type LmsKind, readableKinds } from '../../contract/constants.ts'
import { suggestionText } from '../../contract/validation-issues.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { maxFindings, reportToWorkflow } from '../output/github.ts'
import {
  type Declared,
  type Entry,
  nouns,
  type Part,
  type Place,
  placeText,
  withMemberships,
} from '../records/entries.ts'
import { sentence } from '../records/sources/file.ts'
import { CommandError, type Finding, type Findings, UsageError } from '../terminal/errors.ts'
import { capitalise, pluralise } from '../terminal/format-text.ts'
import { type OpenRosterOptions, readRoster } from './open-roster.ts'
import { type Roster, type RosterPart, type RosterProblem, rosterPartOf, type Scope } from './roster.ts'
import { readRosterOptions } from './roster-options.ts'

export interface RosterReadOptions extends OpenRosterOptions {
  /** Leaves out rows with problems instead of refusing the roster. */
  readonly skipInvalid: boolean
}

export type DeclaredRoster = Awaited<ReturnType<typeof readDeclaredRoster>>

const maxShown = 20

/** Throws a UsageError for rows with problems, unless they are left out. */
export async function readDeclaredRoster(
  context: Context,
  path: string,
  scope: Scope,
  { skipInvalid, ...options }: RosterReadOptions,
) {
  const source = await readAny(context, path, options, scope)
  const { records, findings } = source
  const problemCount = findings.problemCount
  if (problemCount > 0 && !skipInvalid) throw problemsError(source)
  await options.keepMapping?.()
  const all = new Map<Part, readonly Entry[]>(
    // Terms stay, because past courses keep theirs.
    [...records].map(([part, entries]) => [
      part,
      part === 'terms' ? entries.filter(({ isRemoved }) => !isRemoved) : entries,
    ]),
  )
  const { declared: scoped, courses } = inScope(path, all, scope)
  return {
    name: path,
    source,
    declared: withMemberships(scoped),
    /** Undefined for all courses. */
    courses,
    isDelta: (part: Part) =>
      source.parts.some((name) => name === rosterPartOf(part) && source.mode(name) === 'delta'),
    skipped: problemCount,
    notes: [
      ...findings.notes(),
      ...(problemCount > 0 ? [`Left out ${pluralise(problemCount, 'row')} with problems`] : []),
    ],
  }
}

/** `roster:` and the name of its system, else of its file. */
export function defaultLabel({ name, source }: Pick<DeclaredRoster, 'name' | 'source'>): string {
  if (name === '-') return 'roster:stdin'
  const file = basename(name.replace(/[\\/]+$/, '')).replace(/\.(zip|csv)$/i, '')
  return `roster:${source.systemName ?? file}`
}

function problemsError({ name, format, findings }: Roster): UsageError {
  const [problems, count] = [findings.problems(), findings.problemCount]
  const shown = problems.slice(0, maxShown).map((problem) => {
    const { file, line, record = `${sentence(file)}:${line}`, column, message, value, guess = '' } = problem
    const was = value === undefined || value === '' ? null : JSON.stringify(value)
    // `termSourcedIds "2026X" is not in academicSessions`, but `role must be …, not "boss"`.
    const isAfter = was !== null && !/^is\b/.test(message)
    const what = [column, isAfter ? null : was, message].filter((part) => part !== null).join(' ')
    return `${record}: ${what}${isAfter ? `, not ${was}` : ''}${guess}`
  })
  const skip = 'leave these rows out: --skip-invalid'
  const validate = `learnctl roster validate ${name}${integrationIn(name) ? '' : ` --format ${format}`}`
  const all =
    name === 'standard input' ? capitalise(skip) : `See all of them with \`${validate}\`, or ${skip}`
  return new UsageError(`${pluralise(count, 'problem')} found in ${name}`, {
    code: 'invalid_roster',
    why: [...shown, ...(count > shown.length ? [`and ${count - shown.length} more`] : [])],
    hint: addressHint(problems) ?? all,
    findings: findingsOf(name, problems, count),
  })
}

/** All readers of a repository may see them: without values. */
function findingsOf(
  source: string,
  problems: readonly RosterProblem[],
  count: number,
  level: Finding['level'] = 'error',
): Findings {
  const list = problems.slice(0, maxFindings).map(({ file, line, column, message }): Finding => {
    const what = column === null ? message : `${column} ${message}`
    const place = placeIn(source, { file, line })
    // The places in a zip file are none of the repository.
    return { level, ...place, text: place.line === line ? what : `${placeText({ file, line })}: ${what}` }
  })
  return { list, more: count - list.length }
}

/** Returns where a place of a roster is: in its folder, or the zip file or system as a whole. */
export function placeIn(source: string, { file, line }: Place): Place {
  if (/\.zip$/i.test(source) || integrationIn(source)) return { file: source, line: 0 }
  return { file: basename(source) === basename(file) ? source : join(source, file), line }
}

/** Null if there are no people without an address. */
function addressHint(problems: readonly RosterProblem[]): string | null {
  const lacksAddress = problems.some(({ code }) => code === 'no_address')
  return lacksAddress
    ? 'Make addresses of user names, if people have none: --email-domain school.example'
    : null
}

/**
 * Reads a roster: files, or `integration:canvas` for the system of an integration.
 *
 * @param scope parts and courses to read of another system; none for all courses, and all parts but grades
 */
async function readAny(
  context: Context,
  given: string,
  options: OpenRosterOptions,
  scope: Pick<Scope, 'only' | 'courses'> = { only: [], courses: [] },
): Promise<Roster> {
  const kind = integrationIn(given)
  if (kind === null) return readRoster(context.io, given, options)
  const { readIntegration } = await import('./integration-source.ts')
  return readIntegration(context, kind, options, scope)
}

/** `integration:canvas`; null for any other name. Throws a UsageError for a kind that cannot be read. */
export function integrationIn(given: string): LmsKind | null {
  const [, name] = /^integration:(.*)$/.exec(given) ?? []
  if (name === undefined) return null
  const kind = readableKinds.find((each) => each === name)
  if (kind) return kind
  throw new UsageError(`No roster can be read from the integration ${JSON.stringify(name)}`, {
    hint: `Name one of ${readableKinds.map((each) => `integration:${each}`).join(', ')}`,
  })
}

/** Includes the terms and users of the courses. Throws a UsageError if `name`, which has the records, lacks one. */
export function inScope(name: string, declared: Declared, scope: Scope) {
  const isWanted = (part: Part) =>
    scope.only.length === 0 || scope.only.some((only) => only === rosterPartOf(part))
  const onlyWanted = (from: Declared) => new Map([...from].filter(([part]) => isWanted(part)))
  if (scope.courses.length === 0 && scope.terms.length === 0) {
    return { declared: onlyWanted(declared) }
  }
  const terms = keysOf(name, declared, 'terms', scope.terms)
  const named = keysOf(name, declared, 'courses', scope.courses)
  const courses = new Set<string>()
  const usedTerms = new Set(terms)
  for (const { key, record } of declared.get('courses') ?? []) {
    const term = termOf(record)
    if (scope.terms.length > 0 && (term === null || !terms.has(term))) continue
    if (scope.courses.length > 0 && !named.has(key)) continue
    courses.add(key)
    if (term !== null) usedTerms.add(term)
  }
  const users = new Set<string>()
  // Groups name their course as files do.
  const inCourses = ({ record }: Entry) => courses.has(String(record['courseId'] ?? record['course']))
  const groups = (declared.get('groups') ?? []).filter(inCourses)
  const groupKeys = new Set(groups.map(({ key }) => key))
  const inGroups = (entry: Entry) => groupKeys.has(String(entry.record['groupId']))
  const memberships = (declared.get('memberships') ?? []).filter(inGroups)
  for (const { record } of [...(declared.get('enrollments') ?? []).filter(inCourses), ...memberships]) {
    users.add(String(record['userId']))
  }
  for (const { record } of groups) {
    for (const user of Array.isArray(record['members']) ? record['members'] : []) users.add(String(user))
  }
  const kept = [...declared].map(([part, entries]) => {
    if (part === 'terms') return [part, entries.filter(({ key }) => usedTerms.has(key))] as const
    if (part === 'courses') return [part, entries.filter(({ key }) => courses.has(key))] as const
    if (part === 'users') return [part, entries.filter(({ key }) => users.has(key))] as const
    return [part, entries.filter(part === 'memberships' ? inGroups : inCourses)] as const
  })
  return { declared: onlyWanted(new Map(kept)), courses: [...courses] }
}

function termOf({ term }: Entry['record']): string | null {
  return typeof term === 'string' ? term : null
}

/** Records are named by external id, `ext:` and the external id, or title. */
function keysOf(
  where: string,
  declared: Declared,
  part: 'courses' | 'terms',
  wanted: readonly string[],
): ReadonlySet<string> {
  const entries = declared.get(part) ?? []
  return new Set(
    wanted.map((text) => {
      const exact = entries.find(({ key, record }) => key === text || record['externalId'] === text)
      if (exact) return exact.key
      const named = entries.filter(({ record }) => nameOf(record) === text).map(({ key }) => key)
      const [key, ...others] = named
      if (key !== undefined && others.length === 0) return key
      if (key !== undefined) throw ambiguous(part, text, named)
      const noun = part === 'courses' ? 'course' : 'term'
      const known = entries.flatMap(({ key, record }) => [String(nameOf(record)), key])
      throw new UsageError(`${where} has no ${noun} ${JSON.stringify(text)}${suggestionText(text, known)}`, {
        code: `unknown_${noun}`,
      })
    }),
  )
}

function nameOf({ title, name }: Entry['record']): unknown {
  return title ?? name
}

/** Returns the error for a title that several courses have, or a name of several terms. */
export function ambiguous(part: 'courses' | 'terms', name: string, ids: readonly string[]): CommandError {
  return new CommandError('ambiguous', 'usage', `${ids.length} ${part} are called ${name}`, {
    why: ids.toSorted().slice(0, 10),
    hint: 'Use the external id',
  })
}

/** Prints its format, its counts and all problems. Throws a UsageError if there are any. */
export async function validateRoster(context: Context, given: Given): Promise<void> {
  const { io, output, settings } = context
  const { source: name = '' } = given.arguments
  const place = integrationIn(name) ? ['record'] : ['file', 'line']
  const shape = {
    table: ['kind', ...place, 'column', 'value', 'message'],
    paths: ['kind', ...place, 'column', 'value', 'code', 'message'],
  }
  output.check(shape)
  await io.expectGarbage?.()
  const options = await readRosterOptions(io, given.flags, [name])
  const roster = await readAny(context, name, options)
  const report = reportOf(roster)
  if (['json', 'jsonl', 'yaml'].includes(settings.output.value)) await output.document(report)
  else {
    const rows = [
      ...report.problems.map((problem) => ({ kind: 'problem', ...problem })),
      ...report.warnings.map((problem) => ({ kind: 'warning', ...problem })),
    ]
    if (rows.length > 0 || settings.output.value === 'csv') await output.list([rows], shape)
    for (const note of report.notes) await output.note(note)
    for (const { name, notKept } of report.files) {
      if (notKept.length > 0) await output.note(`${name}: columns that are not kept: ${notKept.join(', ')}`)
    }
  }
  if (!report.valid) throw refusal(roster.title, report)
  await options.keepMapping?.()
  await reportToWorkflow(io, {
    title: `${sentence(report.source)} is valid: ${summaryOf(roster.title, report)}`,
    ...warningsOf(report),
  })
  const warnings = report.warningCount > 0 ? `, with ${pluralise(report.warningCount, 'warning')}` : ''
  await output.done(`${sentence(report.source)} is valid${warnings}: ${summaryOf(roster.title, report)}`)
}

type RosterReport = ReturnType<typeof reportOf>

function reportOf({ records, findings, ...source }: Roster) {
  const countsOf = (removed: boolean) =>
    Object.fromEntries(
      [...records].map(([part, all]) => [
        part,
        all.filter(({ isRemoved = false }) => isRemoved === removed).length,
      ]),
    )
  const problemCount = findings.problemCount
  return {
    source: source.name,
    format: source.format,
    version: source.version,
    systemName: source.systemName,
    valid: problemCount === 0,
    files: source.files.map(({ name, table, mode }) => ({
      /** `notKept` are columns with values that an academy does not keep. */
      ...{
        name,
        table,
        mode,
        rows: findings.rowCounts.get(name) ?? 0,
        notKept: findings.unreadColumns.get(name) ?? [],
      },
    })),
    counts: countsOf(false),
    removed: countsOf(true),
    problemCount,
    problems: findings.problems().map(withGuess),
    warningCount: findings.warningCount,
    warnings: findings.warnings,
    notes: findings.notes(),
  }
}

function withGuess({ guess = '', ...problem }: RosterProblem): RosterProblem {
  return { ...problem, message: problem.message + guess }
}

/** `OneRoster 1.2 (bulk) of Springfield SIS with 3 terms, 100 users; removed: 2 users`. */
function summaryOf(
  title: string,
  { format, version, systemName, files, counts, removed }: RosterReport,
): string {
  const name = [title, version ?? ''].join(' ').trim()
  const modes =
    format === 'oneroster' ? ` (${[...new Set(files.map(({ mode }) => mode))].join(' and ')})` : ''
  const text = (all: Readonly<Record<string, number>>) =>
    Object.entries(all)
      .filter(([, count]) => count > 0)
      .map(([part, count]) => pluralise(count, nouns[part as RosterPart]))
      .join(', ')
  const gone = text(removed)
  const from = systemName === null || systemName === format ? '' : ` of ${systemName}`
  return `${name}${modes}${from} with ${text(counts) || 'no records'}${gone === '' ? '' : `; removed: ${gone}`}`
}

function refusal(title: string, report: RosterReport): UsageError {
  const { source, problemCount, problems, warningCount } = report
  const warnings = warningCount > 0 ? ` and ${pluralise(warningCount, 'warning')}` : ''
  const hint = addressHint(problems)
  const [found, warned] = [findingsOf(source, problems, problemCount), warningsOf(report)]
  return new UsageError(
    `${pluralise(problemCount, 'problem')}${warnings} found in ${source}: ${summaryOf(title, report)}`,
    {
      code: 'invalid_roster',
      ...(problemCount > problems.length && { why: [`The first ${problems.length} are listed`] }),
      ...(hint !== null && { hint }),
      findings: {
        list: [...found.list, ...warned.list].slice(0, maxFindings),
        more: Math.max(0, problemCount + warningCount - maxFindings),
      },
    },
  )
}

function warningsOf({ source, warnings, warningCount }: RosterReport): Findings {
  return findingsOf(source, warnings, warningCount, 'warning')
}
