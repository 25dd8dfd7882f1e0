import { isDeepStrictEqual } from 'node:util'
import { jsonText, parseJson } from '../../codec/json-text.ts'
import { platformName } from '../../config/target.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { textsIn } from '../command/flag.ts'
import type { BulkChange } from '../session/bulk-change.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import { type CommandError, UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { createProblems, type Declared, type Entry, nouns, type Part, placeText } from './entries.ts'
import { keyText } from './identity.ts'
import { makePlan } from './make-plan.ts'
import type { Action, Plan, PlanOptions } from './plan.ts'
import { type PlanTarget, readPlanFile, stalePlan, writePlanFile } from './plan-file.ts'
import { findFiles, loadAcademy } from './sources/academy.ts'
import { type Variables, withVariables } from './sources/academy-document.ts'
import { openWriter, sourceOf, type Writer } from './write.ts'

export interface Planned {
  readonly plan: Plan
  /** Records that were compared. */
  readonly declared: Declared
  readonly options: PlanOptions
  readonly reader: Writer
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
export function planOf(change: BulkChange, prepare: (reader: Writer) => Promise<Comparable>): MakePlan {
  return async (context) => {
    const opened = await openAcademy(context, change)
    const { declared, options } = await prepare(opened.reader)
    const plan = await makePlan(opened.reader, declared, options)
    return { plan, declared, options, ...opened }
  }
}

/**
 * Reads a saved plan of a command. The returned function compares its records anew, and throws a CommandError unless they need
 * what was planned.
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
  const target = { command, target: platformName(session.target()) }
  const { declared, options, actions: saved } = await readPlan(io, path, target, variables)
  const compare = planOf({ command, source: sourceOf([path]) }, async () => ({ declared, options }))
  return async (context) => {
    const planned = await compare(context)
    const { plan } = planned
    const now = new Map(plan.actions.map((action) => [nameOf(action), action]))
    const needed = saved.flatMap((action) => now.get(nameOf(action)) ?? [])
    if (needed.length === 0 && saved.length > 0) {
      const notes = [...plan.notes, `The plan ${path} has been applied already`]
      return { ...planned, plan: { ...plan, actions: [], undeclared: [], notes } }
    }
    for (const action of saved) {
      const same = now.get(nameOf(action))
      if (!same || !isDeepStrictEqual(stateOf(action), stateOf(savedOf(same)))) throw stale(command, action)
    }
    const lessons = needed.filter(({ dataset }) => dataset === 'lessons')
    const courses = new Set(lessons.map(({ entry }) => entry?.record['courseId']))
    const lessonPlaces = new Map([...plan.lessonPlaces].filter(([course]) => courses.has(course)))
    return { ...planned, plan: { ...plan, actions: needed, lessonPlaces, undeclared: [] } }
  }
}

async function openAcademy(context: Context, change: BulkChange) {
  const reader = await openWriter(context)
  await requireLearnctl(context.session, reader.caller, change.command, context.io.signal)
  const target = platformName(context.session.target())
  return { reader, target, change }
}

/** An action in a plan file. */
interface Saved extends Pick<Action, 'dataset' | 'kind' | 'key' | 'changes'> {
  readonly id: unknown
  readonly version: unknown
}

/** Saves a plan with the records that it was made from, readable by its owner only. Throws a UsageError if it would contain a password. */
export async function savePlan(
  io: Io,
  path: string,
  command: string,
  { plan, declared, options, target }: Planned,
): Promise<void> {
  const secret = plan.actions.find(({ entry }) => entry?.record['password'] && entry.password === undefined)
  if (secret?.entry) {
    throw new UsageError('A plan file cannot hold a password', {
      why: [`${placeText(secret.entry.place)}: ${keyText(secret.key)} has one`],
      hint: `Take it from the environment, password: \${NAME}, or apply without a plan file`,
    })
  }
  const entries = [...declared.values()].map((all) =>
    all.filter((entry) => !entry.lacksPeople && !plan.leftOut.has(entry)).map(withoutSecret),
  )
  const header = { command, target, options, parts: [...declared.keys()] }
  await writePlanFile(io, path, header, [plan.actions.map(savedOf), ...entries])
}

function savedOf({ dataset, kind, key, changes, current }: Action): Saved {
  const { id = null, version = null } = current ?? {}
  return { dataset, kind, key, changes, id, version }
}

function withoutSecret(entry: Entry): Entry {
  const { password: _, ...record } = entry.record
  return {
    ...entry,
    record: { ...record, ...(entry.password !== undefined && { password: entry.password }) },
  }
}

/** Throws a UsageError if the file is not a saved plan, and a CommandError if it is for another target. */
async function readPlan(
  io: Io,
  path: string,
  plan: PlanTarget,
  variables: Variables,
): Promise<Comparable & { readonly actions: readonly Saved[] }> {
  const { header, changes } = await readPlanFile(io, path, plan)
  // Written by savePlan.
  const lines = changes as (Saved | Entry)[]
  const problems = createProblems()
  const entries = lines.flatMap((line) => {
    if (!('record' in line)) return []
    const { password } = line.record
    if (typeof password !== 'string') return [line]
    const add = (_: unknown, message: string) => problems.add(line.place, `password ${message}`)
    return [{ ...line, record: { ...line.record, password: withVariables(password, variables, add) } }]
  })
  problems.throwIfAny()
  const byPart = Map.groupBy(entries, ({ dataset }) => dataset)
  return {
    options: header['options'] as PlanOptions,
    declared: new Map((header['parts'] as Part[]).map((part) => [part, byPart.get(part) ?? []])),
    actions: lines.flatMap((line) => ('kind' in line ? [line] : [])),
  }
}

function nameOf({ dataset, key }: Pick<Saved, 'dataset' | 'key'>): string {
  return `${dataset} ${key}`
}

/** Returns the error for an academy that has changed since the plan was made. */
function stale(command: string, { dataset, key, kind }: Saved): CommandError {
  const name = `${nouns[dataset]} ${keyText(key)}`
  return stalePlan(command, `Cannot ${kind} ${name} as planned; nothing was changed`)
}

/** Returns the state of a record that an action relies on: its version, else the changes, which follow from its fields. */
function stateOf({ kind, changes, id, version }: Saved): unknown {
  return parseJson(jsonText({ kind, id, version, ...(version === null && { changes }) }))
}
