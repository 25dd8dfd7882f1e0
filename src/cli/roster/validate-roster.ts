import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { maxFindings, reportToWorkflow } from '../output/github.ts'
import { sentence } from '../records/sources/file.ts'
import { type Findings, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { addressHint, findingsOf, integrationIn, openSource } from './declared-roster.ts'
import { type Roster, type RosterPart, type RosterProblem, type RosterSource, rosterNouns } from './roster.ts'
import { readRosterOptions } from './roster-options.ts'

/** Validates a roster and prints its format, its counts and all problems. Throws a UsageError if there are any. */
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
  const source = await openSource(context, name, options)
  const report = reportOf(source, await source.read())
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
  if (!report.valid) throw refusal(source.title, report)
  await options.keepMapping?.()
  await reportToWorkflow(io, {
    title: `${sentence(report.source)} is valid: ${summaryOf(source.title, report)}`,
    ...warningsOf(report),
  })
  const warnings = report.warningCount > 0 ? `, with ${pluralise(report.warningCount, 'warning')}` : ''
  await output.done(`${sentence(report.source)} is valid${warnings}: ${summaryOf(source.title, report)}`)
}

type RosterReport = ReturnType<typeof reportOf>

function reportOf(source: RosterSource, { records, findings }: Roster) {
  const countsOf = (removed: boolean) =>
    Object.fromEntries(
      [...records].map(([part, all]) => [
        part,
        all.filter(({ isRemoved = false }) => isRemoved === removed).length,
      ]),
    )
  const problemCount = findings.problemCount()
  return {
    source: source.name,
    format: source.format,
    version: source.version,
    systemName: source.systemName,
    valid: problemCount === 0,
    files: source.files.map(({ name, table, mode }) => ({
      /** `notKept` are columns with values that an academy does not keep. */
      ...{ name, table, mode, rows: findings.rowCount(name), notKept: findings.unreadColumns(name) },
    })),
    counts: countsOf(false),
    removed: countsOf(true),
    problemCount,
    problems: findings.problems().map(withGuess),
    warningCount: findings.warningCount(),
    warnings: findings.warnings(),
    notes: findings.notes(),
  }
}

function withGuess({ guess = '', ...problem }: RosterProblem): RosterProblem {
  return { ...problem, message: problem.message + guess }
}

/** For example `OneRoster 1.2 (bulk) of Springfield SIS with 3 terms, 100 users; removed: 2 users`. */
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
      .map(([part, count]) => pluralise(count, rosterNouns[part as RosterPart]))
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
