import { ApiError } from '../../client/errors.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { openWriting, type Writing } from '../records/execute.ts'
import { UsageError } from '../terminal/errors.ts'
import { type ApplyJournal, openApplyJournal } from './apply-journal.ts'
import { findFiles } from './find-files.ts'
import { loadAcademy } from './load-academy.ts'
import { loadPart } from './load-part.ts'
import { makePlan, type PlanOptions } from './make-plan.ts'
import type { Action, Plan } from './plan.ts'
import { readPlan, stale } from './plan-file.ts'
import type { Reader } from './reader.ts'

/** A plan, its sources, and its academy. */
export interface Planned {
  readonly plan: Plan
  readonly options: PlanOptions
  readonly reader: Writing
  readonly target: string
  readonly journal: ApplyJournal
}

/** Returns the values of a repeatable flag. */
export function textsOf({ flags }: Given, name: string): string[] {
  const texts = flags[name]
  return Array.isArray(texts) ? texts.map(String) : []
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
  const declared = await loadAcademy(context.io, files, textsOf(given, 'env'))
  return async (context) => {
    const opened = await openAcademy(context, given, null)
    const plan = await makePlan(opened.reader, declared, options, opened.journal.open)
    return { plan, options, ...opened }
  }
}

/** Reads a saved plan. The returned function throws a CommandError if the academy has changed since. */
export async function readSaved(context: Context, given: Given, path: string): Promise<MakePlan> {
  const { io, session } = context
  await io.expectGarbage?.()
  const variables = { allowed: new Set(textsOf(given, 'env')), env: io.env }
  const saved = await readPlan(io, path, platformName(session.target()), variables)
  return async (context) => {
    const opened = await openAcademy(context, given, saved.hash)
    const { reader, journal } = opened
    const plan = await makePlan(
      reader,
      saved.declaredIn(journal),
      { ...saved.options, prune: false },
      journal.open,
    )
    saved.requireSame(plan, journal)
    const deletes: Action[] = []
    for (const planned of saved.deletes) {
      const { dataset, key, id, version } = planned
      const { get, params } = (await loadPart(dataset)).operations
      const current = get && (await shownAt(reader, get, params({ id })))
      const hasBegun = journal.hasBegun(planned)
      if (hasBegun && !current) continue
      if (!current || (current['version'] !== version && !hasBegun)) throw stale(planned)
      deletes.push({ dataset, kind: 'delete', key, entry: null, current, changes: [] })
    }
    const whole = {
      ...plan,
      actions: [...plan.actions, ...deletes],
      lessonPlaces: saved.lessonPlaces,
      undeclared: [],
    }
    return { plan: whole, options: saved.options, ...opened }
  }
}

async function openAcademy(context: Context, { flags }: Given, plan: string | null) {
  const reader = await openWriting(context, Number(flags['concurrency'] ?? 8))
  const target = platformName(context.session.target())
  const journal = await openApplyJournal(context.io, context.directories.state, target, plan)
  return { reader, target, journal }
}

async function shownAt({ caller, signal }: Reader, get: Operation, params: Readonly<Record<string, string>>) {
  try {
    const { data } = await caller.call<Operation>(get, { params, signal })
    return isJsonObject(data) ? data : null
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}
