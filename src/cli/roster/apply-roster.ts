import { shellWord } from '../../codec/display-text.ts'
import { isJsonObject, jsonText } from '../../codec/json-text.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { failureOf } from '../failures.ts'
import { isClosed } from '../records/apply-order.ts'
import { countText, type Declared, type Entry, type Part, placeText } from '../records/entries.ts'
import { keyText } from '../records/identity.ts'
import { type MakePlan, planOf, readSaved } from '../records/open-plan.ts'
import { type Action, countsText, type Plan, type PlanOptions } from '../records/plan.ts'
import {
  type Applied,
  type ApplyCommand,
  failureDocument,
  outcomeText,
  printPlan,
  refusedError,
  runApply,
} from '../records/run-apply.ts'
import { idPrinter, sourceOf } from '../records/write.ts'
import { CommandError, exitCode } from '../terminal/errors.ts'
import { firstNames, pluralise } from '../terminal/format-text.ts'
import { writeTarget } from '../terminal/target-file.ts'
import { type DeclaredRoster, integrationIn } from './declared-roster.ts'

export interface RosterToApply {
  readonly roster: DeclaredRoster
  readonly options: PlanOptions
}

type RosterReport = ReturnType<typeof reportOf>

const command = 'roster apply'
const maxListed = 1000

/** Throws a CommandError for refused records (exit 8). `--report` writes a file also on failure. */
export async function applyRoster(
  context: Context,
  given: Given,
  read: () => Promise<RosterToApply | { readonly plan: string }>,
): Promise<void> {
  const path = given.flags['report']
  const startedAt = new Date(context.io.now()).toISOString()
  const run: ReportedRun = { startedAt, roster: null, report: null, fault: null }
  try {
    const source = await read()
    if ('roster' in source) run.roster = source.roster
    await applySource(context, given, source, (report) => {
      run.report = report
    })
  } catch (error) {
    run.fault = error
    throw error
  } finally {
    if (path !== undefined) await writeReport(context, String(path), run)
  }
}

async function applySource(
  context: Context,
  given: Given,
  source: RosterToApply | { readonly plan: string },
  onReport: (report: RosterReport) => void,
): Promise<void> {
  const makePlan =
    'plan' in source ? await readSaved(context, given, source.plan, command) : plannerOf(source)
  const { notes, skipped } = 'plan' in source ? { notes: [], skipped: 0 } : source.roster
  const isPartial = 'roster' in source && source.roster.source.isPartial === true
  const isQuiet = !context.io.stdout.isTTY && !context.io.stderr.isTTY && !isPartial
  const isSilent = ({ actions, leftOut }: Plan) => isQuiet && actions.length + skipped + leftOut.size === 0
  const form: ApplyCommand = {
    ...{ command, verb: 'remove', diff: 'learnctl roster diff', isRemoval, isSilent },
    report: async (held, applied) => {
      const report = reportOf(applied, skipped + applied.planned.plan.leftOut.size)
      onReport(report)
      await printReport(held, report, isSilent(applied.planned.plan))
    },
  }
  await runApply(
    context,
    given,
    async (held) => {
      const planned = await makePlan(held)
      if ('roster' in source) requireRecords(source.roster, planned.plan, given)
      if (!isSilent(planned.plan)) for (const note of notes) await context.output.note(note)
      return planned
    },
    form,
  )
}

/** Parts of which a school that has had some is not without. */
const neverEmpty = ['users', 'courses', 'enrollments'] as const

/** Throws a CommandError if all records of a part would be removed because another system shows none, unless that is allowed. */
function requireRecords(
  { name, declared, courses }: DeclaredRoster,
  { actions }: Plan,
  { flags }: Given,
): void {
  if (!integrationIn(name) || courses || flags['max-deletes'] !== undefined) return
  const removals = actions.filter(isRemoval)
  for (const part of neverEmpty) {
    const count = removals.filter(({ dataset }) => dataset === part).length
    if (count === 0 || declared.get(part)?.length !== 0) continue
    throw new CommandError(
      'empty_part',
      'conflict',
      `Refusing to remove ${countText(part, count)}: ${name} has none at all`,
      {
        why: ['Nothing was changed'],
        hint: `If that is right, allow all removals: --max-deletes ${removals.length}`,
      },
    )
  }
}

export async function planRoster(
  context: Context,
  { roster, options }: RosterToApply,
): Promise<{ readonly plan: Plan; readonly notes: readonly string[] }> {
  const { plan } = await plannerOf({ roster, options })(context)
  return { plan, notes: [...roster.notes, ...plan.notes] }
}

function plannerOf({ roster, options }: RosterToApply): MakePlan {
  const compare = planOf({ command, source: sourceOf([roster.name]) }, async () => {
    const isWhole = options.prune && !roster.isDelta('groups')
    const declared = isWhole ? roster.declared : withOtherMembers(roster.declared)
    return { declared, options }
  })
  return async (context) => {
    const planned = await compare(context)
    const { plan } = planned
    return { ...planned, plan: { ...plan, notes: [...plan.notes, ...closedNotes(plan)] } }
  }
}

const maxClosed = 5

/**
 * Returns notes on suspended users and archived courses of the roster that stay so, because it says nothing of their
 * status: an earlier apply may have closed them when they were gone, or an admin for another reason.
 */
function closedNotes({ actions, kept: unchanged }: Plan): string[] {
  const kept = [...unchanged, ...actions].filter(
    ({ dataset, entry, current }) =>
      entry !== null &&
      entry.record['status'] === undefined &&
      current !== null &&
      isClosed(dataset, current),
  )
  const ofPart = (part: Part) =>
    kept.filter(({ dataset, current }) => dataset === part && current?.['role'] !== protectedRole)
  return [
    ...closedNote(ofPart('users'), 'suspended user', 'suspended', 'learnctl users activate'),
    ...closedNote(ofPart('courses'), 'archived course', 'archived', 'learnctl courses publish'),
  ]
}

function closedNote(records: readonly Action[], noun: string, status: string, command: string): string[] {
  if (records.length === 0) return []
  const names = records.map(({ key }) => keyText(key))
  const words = names.slice(0, maxClosed).map(shellWord)
  const [stay, their] = records.length === 1 ? ['stays', 'its'] : ['stay', 'their']
  const line = [command, ...words, ...(names.length > maxClosed ? ['…'] : [])].join(' ')
  return [
    `${pluralise(records.length, noun)} of the roster ${stay} ${status}, as it does not say ${their} status: ${firstNames(names, maxClosed)}; to change that: ${line}`,
  ]
}

/** Groups may have members besides the declared ones. */
function withOtherMembers(declared: Declared): Declared {
  return new Map(
    [...declared].map(([part, entries]) => [
      part,
      part === 'groups' ? entries.map(({ listsMembers: _, ...entry }) => entry) : entries,
    ]),
  )
}

/** A roster gives no rights over an academy and takes none. */
const protectedRole = 'admin'

/** @param closes parts whose removed records are closed instead of deleted */
export function planOptions(
  { declared, isDelta, courses }: DeclaredRoster,
  given: Pick<PlanOptions, 'label' | 'prune' | 'closes' | 'skipsUnknown'>,
): PlanOptions {
  return {
    ...given,
    protectedRole,
    // Terms stay, because past courses keep theirs.
    keeps: [...declared.keys()].filter((part) => part === 'terms' || isDelta(part)),
    ...(courses && { courses }),
  }
}

const closedStatuses = ['suspended', 'deleted', 'inactive', 'archived']

export function isRemoval({ kind, changes }: Action): boolean {
  return (
    kind === 'delete' ||
    changes.some(({ field, to }) => field === 'status' && closedStatuses.includes(String(to)))
  )
}

/** Returns the numbers of records by action; closed records count as removed. */
function summaryOf({ actions, unchanged }: Plan) {
  const remove = actions.filter(isRemoval).length
  const create = actions.filter(({ kind }) => kind === 'create').length
  return { create, update: actions.length - create - remove, remove, unchanged }
}

/** @param skipped rows of the roster that were left out */
function reportOf(applied: Applied, skipped: number) {
  const { planned, failures, done } = applied
  const { plan, target, declared } = planned
  const isDone = new Set(done.actions)
  const actions = plan.actions.filter((action) => !isDone.has(action))
  const [before, after] = [checkOf(declared, plan), checkOf(declared, { ...plan, actions })]
  const shared = { target, summary: summaryOf(done), before, after, applied, skipped }
  if (failures.length > 0 || skipped > 0) return { ...shared, outcome: 'refused', exit: 'partial' } as const
  return { ...shared, outcome: plan.actions.length === 0 ? 'equal' : 'applied', exit: 'ok' } as const
}

async function printReport(context: Context, report: RosterReport, isSilent: boolean): Promise<void> {
  const { output, settings } = context
  const { applied, after, summary, exit, skipped } = report
  await idPrinter(context)?.(applied.ids)
  if (settings.output.value !== 'table') await output.document(reportDocument(report))
  else if (!isSilent && !settings.quiet.value) {
    await output.text(`${countLines(after).join('\n')}\n`)
  }
  if (!isSilent) {
    const { create, update, remove, unchanged } = summary
    const { plan } = applied.planned
    await output.done(
      plan.actions.length === 0
        ? countsText(plan)
        : `Applied: ${create} created, ${update} changed, ${remove} removed; ${unchanged} as declared`,
    )
  }
  if (applied.failures.length > 0) throw refusedError(applied.failures, outcomeText(applied.done))
  if (exit === 'partial') {
    const message = `${pluralise(skipped, 'row')} with problems ${skipped === 1 ? 'was' : 'were'} left out`
    throw new CommandError('skipped_rows', 'partial', message, {
      hint: 'See them with `learnctl roster validate`',
    })
  }
}

/** Returns an apply as data, for `-o json` and the report file; docs/rosters.md describes the members. */
export function reportDocument(report: RosterReport): object {
  const { outcome, exit, target, summary, before, after, applied } = report
  return {
    formatVersion: 1,
    outcome,
    exitCode: exitCode(exit),
    target,
    summary,
    counts: { before: countsDocument(before), after: countsDocument(after) },
    differenceCount: after.differences.length,
    differences: after.differences.slice(0, maxListed).map(differenceDocument),
    refusedCount: applied.failures.length,
    refused: applied.failures.slice(0, maxListed).map(failureDocument),
  }
}

function countsDocument({ counts }: RosterCheck): object {
  return Object.fromEntries(counts)
}

type RosterCheck = ReturnType<typeof checkOf>

/** `actions` are what both sides differ in. */
export function checkOf(declared: Declared, { actions, leftOut }: Pick<Plan, 'actions' | 'leftOut'>) {
  const byPart = Map.groupBy(actions, ({ dataset }) => dataset)
  const countsOf = (part: Part, entries: readonly Entry[]) => {
    const own = byPart.get(part) ?? []
    const wanted = new Set<Entry>(entries.filter(({ isRemoved, lacksPeople }) => !isRemoved && !lacksPeople))
    const created = own.filter(({ kind }) => kind === 'create').length
    const changed = own.filter(({ kind, entry }) => kind === 'update' && entry && wanted.has(entry)).length
    const absent = entries.filter((entry) => leftOut.has(entry)).length
    const platform = wanted.size - created - absent
    // `equal` are records of the roster that the platform has as they are, `extra` those that only the platform has.
    const [equal, extra] = [platform - changed, own.length - created - changed]
    return { roster: wanted.size, platform, equal, extra }
  }
  const counts = new Map([...declared].map(([part, entries]) => [part, countsOf(part, entries)]))
  return { counts, differences: actions }
}

/** `users: 1,229 of 1,229 equal`. */
export function countLines({ counts }: RosterCheck): string[] {
  const number = (value: number) => value.toLocaleString('en')
  return [...counts].map(([part, { roster, platform, equal, extra }]) => {
    const missing = roster - platform
    const faults = [
      ...(missing > 0 ? [`${number(missing)} missing`] : []),
      ...(platform > equal ? [`${number(platform - equal)} different`] : []),
      ...(extra > 0 ? [`${number(extra)} to remove`] : []),
    ]
    const rest = faults.length > 0 ? `: ${faults.join(', ')}` : ''
    return `${part}: ${number(equal)} of ${number(roster)} equal${rest}`
  })
}

function differenceDocument({ dataset, kind, key, current, changes }: Action): object {
  return {
    dataset,
    difference: kind === 'create' ? 'missing' : kind === 'delete' ? 'extra' : 'different',
    key: keyText(key),
    id: current?.['id'] ?? null,
    fields: changes,
  }
}

interface ReportedRun {
  readonly startedAt: string
  /** Null if it could not be read, or a saved plan was carried out. */
  roster: DeclaredRoster | null
  report: RosterReport | null
  fault: unknown
}

/** Writes the report of a run, readable by its owner only, also if the run failed. Replaces an existing file. */
async function writeReport(
  { io, session }: Context,
  path: string,
  { startedAt, roster, report, fault }: ReportedRun,
): Promise<void> {
  const failure = fault === null ? null : failureOf(fault, session.target())
  const document = {
    ...(report ? reportDocument(report) : { formatVersion: 1, outcome: 'failed' }),
    ...(failure && { exitCode: exitCode(failure.exit) }),
    startedAt,
    endedAt: new Date(io.now()).toISOString(),
    source: roster && {
      ...{ name: roster.name, format: roster.source.format, version: roster.source.version },
      ...{ system: roster.source.systemName, sha256: roster.source.hash },
      ...{ skippedRows: roster.skipped, notes: roster.notes },
    },
    error: failure && { code: failure.code, message: failure.message, why: failure.why },
  }
  await writeTarget(io.cwd, path, [`${jsonText(document, 2)}\n`], { force: true, mode: 0o600 })
}

const columns = ['dataset', 'action', 'key', 'field', 'from', 'to', 'place'] as const

/** CSV has a row for each field; otherwise a plan is printed. */
export async function printDifferences(context: Context, plan: Plan): Promise<void> {
  const { output, settings } = context
  if (settings.output.value !== 'csv') return printPlan(context, plan)
  await output.list([plan.actions.flatMap(rowsOf)], { table: columns, paths: columns })
}

function rowsOf({ dataset, kind, key, entry, changes }: Action): object[] {
  const shared = { dataset, action: kind, key: keyText(key) }
  const place = entry ? placeText(entry.place) : null
  const none = { field: null, from: null, to: null }
  if (changes.length === 0) return [{ ...shared, ...none, place }]
  return changes.map(({ field, from, to }) => ({ ...shared, field, from: cell(from), to: cell(to), place }))
}

function cell(value: unknown): unknown {
  return isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : (value ?? null)
}
