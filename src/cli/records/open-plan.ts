import { isDeepStrictEqual } from 'node:util'
import { jsonText, parseJson } from '../../codec/json-text.ts'
import { platformName } from '../../config/target.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { textsIn } from '../command/flag.ts'
import type { BulkChange } from '../session/bulk-change.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Declared } from './entries.ts'
import { makePlan } from './make-plan.ts'
import type { PlanOptions } from './plan.ts'
import { readPlan, type SavablePlan, type SavedAction, savedOf, stalePlan } from './plan-file.ts'
import { findFiles, loadAcademy } from './sources/academy.ts'
import { openWriter, sourceOf, type Writer } from './write.ts'

export interface Planned extends SavablePlan {
  readonly reader: Writer
  /** The writes of the plan belong to it. */
  readonly change: BulkChange
}

export type MakePlan = (context: Context) => Promise<Planned>

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

/** `prepare` is called when the academy is open. The writes of a `change` can be undone together. */
export function planOf(change: BulkChange, prepare: (reader: Writer) => Promise<Comparable>): MakePlan {
  return async (context) => {
    const opened = await openAcademy(context, change)
    const { declared, options } = await prepare(opened.reader)
    const plan = await makePlan(opened.reader, declared, options)
    return { plan, declared, options, ...opened }
  }
}

/** Records are compared anew. Throws a CommandError unless they need what was planned. */
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
      if (!same || !isDeepStrictEqual(stateOf(action), stateOf(savedOf(same))))
        throw stalePlan(command, action)
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

function nameOf({ dataset, key }: Pick<SavedAction, 'dataset' | 'key'>): string {
  return `${dataset} ${key}`
}

/** Returns the state of a record that an action relies on: its version, else the changes, which follow from its fields. */
function stateOf({ kind, changes, id, version }: SavedAction): unknown {
  return parseJson(jsonText({ kind, id, version, ...(version === null && { changes }) }))
}
