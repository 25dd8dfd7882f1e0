import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject, jsonText, parseJson } from '../../codec/json-text.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { textsIn } from '../command/flag.ts'
import { findShown } from '../dataset/find.ts'
import type { BulkChange } from '../session/bulk-change.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import {
  createProblems,
  type Declared,
  type Entry,
  loadPart,
  nouns,
  type Part,
  parts,
  placeText,
} from './entries.ts'
import { openWriting, sourceOf, type Writing } from './execute.ts'
import { keyText, membershipAt } from './identity.ts'
import { makePlan } from './make-plan.ts'
import type { Action, LessonPlace, Plan, PlanOptions } from './plan.ts'
import { type PlanTarget, readPlanLines, savePlanLines, stalePlan } from './plan-lines.ts'
import { findFiles, loadAcademy } from './sources/academy.ts'
import { type Variables, withVariables } from './sources/academy-document.ts'
import { withWeightNotes } from './weight-notes.ts'
import type { Writer } from './write.ts'

export interface Planned {
  readonly plan: Plan
  /** Records that were compared. */
  readonly declared: Declared
  readonly options: PlanOptions
  readonly reader: Writing
  readonly target: string
  /** The change that the writes of the plan belong to. */
  readonly change: BulkChange
}

/** Compares the files with the academy; the context's signal aborts it. */
export type MakePlan = (context: Context) => Promise<Planned>

/** Reads the files that a command line names and returns the comparison to run. Throws a UsageError. */
export async function readFiles(context: Context, given: Given): Promise<MakePlan> {
  const label = given.flags['label'] === undefined ? null : String(given.flags['label'])
  const options = { label, prune: given.flags['prune'] === true }
  if (options.prune && label === null) {
    throw new UsageError('--prune requires --label', {
      why: ['It deletes nothing but records with the label that apply gave them'],
      hint: 'learnctl apply --label ci --prune',
    })
  }
  await context.io.expectGarbage?.()
  const files = await findFiles(context.io, given.rest)
  const declared = await loadAcademy(context.io, files, textsIn(given.flags, 'env'))
  const change = { command: 'apply', source: sourceOf(files) }
  return planOf(change, async () => ({ declared, options }))
}

export interface Comparable {
  readonly declared: Declared
  readonly options: PlanOptions
}

/**
 * Returns the comparison of records with the academy; `prepare` is called when the academy is open.
 *
 * @param change what makes the changes of the plan, so that they can be undone together
 */
export function planOf(change: BulkChange, prepare: (reader: Writing) => Promise<Comparable>): MakePlan {
  return async (context) => {
    const opened = await openAcademy(context, change)
    const { declared, options } = await prepare(opened.reader)
    const made = await makePlan(opened.reader, declared, options)
    const plan = await withWeightNotes(opened.reader, made)
    return { plan, declared, options, ...opened }
  }
}

/**
 * Reads a saved plan of a command. The returned function throws a CommandError if the academy has changed since.
 */
export async function readSaved(
  context: Context,
  given: Given,
  path: string,
  command = 'apply',
): Promise<MakePlan> {
  const { io, session } = context
  await io.expectGarbage?.()
  const variables = { allowed: new Set(textsIn(given.flags, 'env')), env: io.env }
  const plan = { command, target: platformName(session.target()) }
  const saved = await readPlan(io, path, plan, variables)
  return async (context) => {
    const opened = await openAcademy(context, { command, source: sourceOf([path]) })
    const { reader } = opened
    const { declared } = saved
    const options = { ...saved.options, prune: false }
    const planFor = (records: Declared) => makePlan(reader, records, options, saved.lessonPlaces)
    const plan = await withWeightNotes(reader, await planFor(declared))
    const found: (JsonObject | null)[] = []
    for (const planned of saved.deletes) found.push(await recordAt(reader, planned))
    try {
      saved.requireSame(plan)
      const deletes: Action[] = []
      const removed: Entry[] = []
      for (const [index, planned] of saved.deletes.entries()) {
        const { dataset, key, version } = planned
        const current = found[index] ?? null
        if (!current || (current['version'] ?? null) !== version) throw stale(command, planned)
        const record = await (await loadPart(dataset)).toRecord(current, reader.names)
        removed.push({ dataset, key, record, place: { file: path, line: 0 }, isRemoved: true })
        deletes.push({ dataset, kind: 'delete', key, entry: null, current, changes: [] })
      }
      const whole = { ...plan, actions: [...plan.actions, ...deletes], undeclared: [] }
      return { plan: whole, declared: withEntries(declared, removed), options, ...opened }
    } catch (error) {
      if (!(error instanceof CommandError) || error.code !== 'stale_plan') throw error
      const now = await planFor(unplanned(declared))
      if (now.actions.length > 0 || found.some((record) => record)) throw error
      const notes = [...now.notes, `The plan ${path} has been applied already`]
      return { plan: { ...now, notes }, declared, options, ...opened }
    }
  }
}

function withEntries(declared: Declared, added: readonly Entry[]): Declared {
  const byPart = Map.groupBy(added, ({ dataset }) => dataset)
  return new Map(
    parts.flatMap((part) => {
      const [entries, more] = [declared.get(part), byPart.get(part)]
      return entries || more ? [[part, [...(entries ?? []), ...(more ?? [])]] as const] : []
    }),
  )
}

async function openAcademy(context: Context, change: BulkChange) {
  const reader = await openWriting(context)
  await requireLearnctl(context.session, reader.caller, change.command, context.io.signal)
  const target = platformName(context.session.target())
  return { reader, target, change }
}

/** Returns the record of a saved action as the API shows it; null if it does not exist or is deleted. */
async function recordAt({ caller, signal }: Writer, { dataset, id, key }: Saved): Promise<JsonObject | null> {
  const part = await loadPart(dataset)
  const { get, params } = part.operations
  if (!get) return findShown(caller, part, membershipAt(key), signal)
  try {
    const { data } = await caller.call<Operation>(get, { params: params({ id }), signal })
    return isJsonObject(data) && data['status'] !== 'deleted' ? data : null
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

/** Action in a plan file. */
interface Saved extends Pick<Action, 'dataset' | 'kind' | 'key' | 'changes' | 'entry'> {
  readonly id: unknown
  readonly version: unknown
}

interface SavedPlan {
  readonly options: PlanOptions
  readonly declared: Declared
  readonly lessonPlaces: ReadonlyMap<string, readonly LessonPlace[]>
  readonly deletes: readonly Saved[]
  /**
   * Throws a CommandError if `plan`, recomputed from the declared records, differs from the saved one.
   */
  requireSame(plan: Plan): void
}

/** Saves a plan, readable by its owner only. Throws a UsageError if it would contain a password. */
export async function savePlan(
  io: Io,
  path: string,
  plan: Plan,
  {
    command,
    target,
    options,
  }: { readonly command: string; readonly target: string; readonly options: PlanOptions },
): Promise<void> {
  const secret = plan.actions.find(({ entry }) => entry?.record['password'] && entry.password === undefined)
  if (secret?.entry) {
    throw new UsageError('A plan file cannot hold a password', {
      why: [`${placeText(secret.entry.place)}: ${keyText(secret.key)} has one`],
      hint: `Take it from the environment, password: \${NAME}, or apply without a plan file`,
    })
  }
  const header = { command, target, options, lessonPlaces: [...plan.lessonPlaces] }
  const kept = plan.kept.map((action) => ({ ...savedOf(action), isKept: true }))
  await savePlanLines(io, path, header, [plan.actions.map(savedOf), kept])
}

function savedOf({ dataset, kind, key, changes, entry, current }: Action): Saved {
  const { password, ...record } = entry?.record ?? {}
  const kept = entry && {
    ...withoutList(entry),
    record: { ...record, ...(entry.password !== undefined && { password: entry.password }) },
  }
  return {
    dataset,
    kind,
    key,
    changes,
    entry: kept,
    id: current?.['id'] ?? null,
    version: current?.['version'] ?? null,
  }
}

/** Returns an entry that declares no members: a plan has those to remove as deletions. */
function withoutList({ listsMembers: _, ...entry }: Entry): Entry {
  return entry
}

/** Throws a UsageError if the file is not a saved plan, and a CommandError if it is for another target. */
async function readPlan(io: Io, path: string, plan: PlanTarget, variables: Variables): Promise<SavedPlan> {
  const { header, changes } = await readPlanLines(io, path, plan)
  const { command } = plan
  // Written by savePlan.
  const saved = changes as (Saved & { isKept?: boolean })[]
  const actions = saved.filter(({ isKept }) => !isKept)
  const problems = createProblems()
  const entries = new Map<Part, Entry[]>()
  for (const { dataset, entry, id } of saved) {
    if (!entries.has(dataset)) entries.set(dataset, [])
    if (!entry) continue
    const { password } = entry.record
    const add = (_: unknown, message: string) => problems.add(entry.place, `password ${message}`)
    const record = {
      ...entry.record,
      ...(typeof password === 'string' && { password: withVariables(password, variables, add) }),
    }
    entries.get(dataset)?.push({ ...entry, record, plannedId: id === null ? null : String(id) })
  }
  problems.throwIfAny()
  return {
    options: header['options'] as PlanOptions,
    declared: new Map(
      parts.flatMap((part) => (entries.has(part) ? [[part, entries.get(part) ?? []] as const] : [])),
    ),
    lessonPlaces: new Map(header['lessonPlaces'] as [string, LessonPlace[]][]),
    deletes: actions.filter(({ kind }) => kind === 'delete'),
    requireSame(plan) {
      const then = named(actions.filter(({ kind }) => kind !== 'delete'))
      const now = named(plan.actions.map(savedOf))
      for (const [name, action] of then) {
        const same = now.get(name)
        if (!same || !isDeepStrictEqual(signatureOf(action), signatureOf(same))) throw stale(command, action)
      }
      for (const [name, action] of now) if (!then.has(name)) throw stale(command, action)

      function named(all: readonly Saved[]): ReadonlyMap<string, Saved> {
        return new Map(all.map((action) => [`${action.dataset} ${action.key}`, action]))
      }
    },
  }
}

/** Returns the error for an academy that has changed since the plan was made. */
function stale(
  command: string,
  { dataset, key, kind }: Pick<Saved, 'dataset' | 'key' | 'kind'>,
): CommandError {
  const name = `${nouns[dataset]} ${keyText(key)}`
  return stalePlan(command, `Cannot ${kind} ${name} as planned; nothing was changed`)
}

/** Returns records without the ids that they had when they were planned, so that planned creations are found. */
function unplanned(declared: Declared): Declared {
  return new Map(
    [...declared].map(([part, entries]) => [part, entries.map(({ plannedId: _, ...entry }) => entry)]),
  )
}

/**
 * Returns the state of a record that a planned action relies on: its version, else the planned changes, which follow
 * from its fields.
 */
function signatureOf({ kind, changes, id, version }: Saved): unknown {
  return parseJson(jsonText({ kind, id, version, ...(version === null && { changes }) }))
}
