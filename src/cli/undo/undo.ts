import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { calls } from '../../contract/calls.ts'
import type { Change } from '../../contract/changes.ts'
import { confirm } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { whileApplying } from '../records/apply-lock.ts'
import { openWriting, type Writing } from '../records/execute.ts'
import { idPrinter } from '../records/write.ts'
import type { BulkChange } from '../session/bulk-change.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import { createPainterFor } from '../terminal/colour.ts'
import { CommandError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { write } from '../terminal/io.ts'
import { createProgressLine } from '../terminal/progress-line.ts'
import { carryOut, type UndoFailure } from './carry-out.ts'
import { actionsOf, actionsOfEntry, findChange, unfinishedUndos } from './changes.ts'
import { type RecordedAction, sumUp } from './net-change.ts'
import { planUndo, type UndoPlan } from './plan-undo.ts'
import { countsText, lastingTexts, undoCounts, undoDocument, undoText } from './undo-text.ts'

/** Maximum requests at once. */
const maxRequests = 8
/** Maximum lines of a section before the question, and of failures. */
const maxShown = 20

/** An undo to plan and carry out. */
interface Wanted {
  /** The change that the undo itself is. */
  readonly change: BulkChange
  /** In the question: `users import of users.csv`. */
  readonly name: string
  readonly actions: (caller: Caller) => AsyncIterable<readonly RecordedAction[]>
  /** Earlier undos of it that did not complete, the oldest first. */
  readonly unfinished: readonly Change[]
  /** Number of records of progress that it wrote, which the audit log does not have. */
  readonly progress: number
}

/** Undoes a change: shows the plan, asks, and carries it out. */
export async function undoChange(context: Context, reference: string, waitLock: unknown): Promise<void> {
  const { io, session, output } = context
  const caller = await session.caller()
  await requireLearnctl(session, caller, 'undo', io.signal)
  const change = await findChange(context, caller, reference)
  requireRecent(change, io.now())
  const { id, command, source, state, counts } = change
  if (state === 'running')
    await output.note(`The end of change ${id} was not reported: it may still be running`)
  const named = source === null ? command : `${command} (${source})`
  const progress = counts.find(({ action }) => action === 'progress.updated')?.count ?? 0
  await run(context, waitLock, {
    change: { command: 'undo', source: named, undoes: id },
    name: `${named} of ${change.createdAt.slice(0, 16).replace('T', ' ')}`,
    actions: (caller) => actionsOf(caller, [change], io.signal),
    unfinished: await unfinishedUndos(context, caller, change),
    progress,
  })
}

/** Reverts what a request did, or an entry of the audit log. */
export async function revertEntry(context: Context, reference: string, waitLock: unknown): Promise<void> {
  await run(context, waitLock, {
    change: { command: 'audit revert', source: reference },
    name: reference,
    actions: (caller) => actionsOfEntry(caller, reference, context.io.signal),
    unfinished: [],
    progress: 0,
  })
}

/** Throws a CommandError for a change that is too old. */
function requireRecent({ id, undoableUntil }: Change, nowMs: number): void {
  if (Date.parse(undoableUntil) > nowMs) return
  throw new CommandError('too_old', 'conflict', `Change ${id} is too old to be undone`, {
    why: [`It could be undone until ${undoableUntil.slice(0, 10)}: deleted records are kept for 30 days`],
  })
}

async function run(context: Context, waitLock: unknown, wanted: Wanted): Promise<void> {
  if (context.settings.dryRun.value) return planAndCarryOut(context, wanted)
  await whileApplying(context, context.session, waitLock, (held) => planAndCarryOut(held, wanted))
}

async function planAndCarryOut(context: Context, wanted: Wanted): Promise<void> {
  const { change, name, actions, unfinished, progress } = wanted
  const { io, settings, output, session, prompts } = context
  for (const { id, state } of unfinished) {
    const how = state === 'partial' ? 'left some records' : 'was interrupted'
    await output.note(`Continuing undo ${id}, which ${how}`)
  }
  const opened = await openWriting(context, maxRequests, change)
  const writing = { ...opened, printIds: idPrinter(context) }
  const { caller, signal } = writing
  const summed = await sumUp(actions(caller), actionsOf(caller, unfinished, signal))
  const counted =
    progress > 0 ? [...summed.lasting, ['progress.updated', progress] as const] : [...summed.lasting]
  const lastingCounts = { ...summed, lasting: new Map(counted) }
  const plan = await planUndo(writing, lastingCounts, await isAdmin(caller, signal))
  const lasting = [...lastingTexts(plan), ...(await noticesOf(writing, plan))]
  const isTable = settings.output.value === 'table'
  if (settings.dryRun.value) {
    if (!isTable) return output.document(undoDocument(plan, lasting))
    const paint = await createPainterFor(io.stdout, io, settings)
    return output.text([...undoText(plan, lasting, paint)].join(''))
  }
  if (plan.actions.length === 0) {
    if (!isTable) await output.document({ ...undoDocument(plan, lasting), failed: [] })
    await output.done(countsText(plan))
    await noteLeft(context, plan, lasting)
    return
  }
  const isAsked = prompts.refusal === null && !settings.yes.value
  if (isAsked) {
    const paint = await createPainterFor(io.stderr, io, settings)
    await write(io.stderr, [...undoText(plan, lasting, paint, maxShown), '\n'].join(''))
  }
  await confirm(context, `undo ${name}`, async () => ({
    text: `Undo ${name}: ${countsText(plan).split(';')[0]}`,
    consequence: '',
  }))
  const line = await createProgressLine(io, 'records', plan.actions.length)
  const failures = await carryOut(writing, plan, (done) => line.update(done)).finally(() => line.stop())
  for (const text of writing.notes.sentences()) await output.note(text)
  const undoId = (await session.change()?.id()) ?? null
  await report(context, plan, lasting, failures, undoId, isAsked)
}

async function noteLeft({ output }: Context, { kept }: UndoPlan, lasting: readonly string[]): Promise<void> {
  for (const text of lasting) await output.note(`Not undone: ${text}`)
  for (const { noun, name, fields, reason } of kept.slice(0, maxShown)) {
    await output.note(
      `Kept ${noun} ${name}${fields.length > 0 ? ` (${fields.join(', ')})` : ''}, which ${reason}`,
    )
  }
  if (kept.length > maxShown) await output.note(`Kept ${kept.length - maxShown} more; -o json lists all`)
}

async function report(
  context: Context,
  plan: UndoPlan,
  lasting: readonly string[],
  failures: readonly UndoFailure[],
  undoId: string | null | undefined,
  isShown: boolean,
): Promise<void> {
  const { output, settings } = context
  const failed = new Set(failures.map(({ action }) => action))
  const done = { ...plan, actions: plan.actions.filter((action) => !failed.has(action)) }
  if (settings.output.value !== 'table') {
    await output.document({
      ...undoDocument(done, lasting),
      change: undoId ?? null,
      failed: failures.map(({ action, code, message }) => ({
        ...{ action: action.kind, noun: action.of.name, id: action.net.id, name: action.net.name },
        ...{ code, message },
      })),
    })
  }
  const { remove, restore, change } = undoCounts(done)
  const next = undoId ? `; undo this with: learnctl undo ${undoId}` : ''
  await output.done(`Undone: ${remove} removed, ${restore} restored, ${change} changed back${next}`)
  // The plan before the question listed it.
  if (!isShown) await noteLeft(context, plan, lasting)
  const [first] = failures
  if (!first) return
  throw new CommandError(
    first.code,
    'partial',
    `${pluralise(failures.length, 'record')} could not be undone; the others are done`,
    {
      why: [
        ...failures
          .slice(0, maxShown)
          .map(
            ({ action: { of, net }, message }) => `${capitalised(of.dataset.noun)} ${net.name}: ${message}`,
          ),
        ...(failures.length > maxShown ? [`and ${failures.length - maxShown} more; -o json lists all`] : []),
      ],
      hint: 'Run the same command again to try these once more',
    },
  )
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** True if the caller can delete courses with everything in them. */
async function isAdmin(caller: Caller, signal: AbortSignal): Promise<boolean> {
  try {
    const { data } = await caller.call(calls.users.profile, { signal })
    return data.role === 'admin' && data.scopes.includes('admin')
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

/** Maximum courses whose learners are counted before they are deleted. */
const maxCounted = 50

/** Returns what else an undo cannot take back: progress in courses that it deletes, and events that were sent. */
async function noticesOf({ caller, signal }: Writing, plan: UndoPlan): Promise<string[]> {
  const notices: string[] = []
  const courses = plan.actions.filter(({ of, kind }) => of.name === 'course' && kind === 'delete')
  for (const { net } of courses.slice(0, maxCounted)) {
    const query = { course_id: net.id, limit: 1, include_total: 'true' } as const
    const count = await countOf(() => caller.call(calls.progress.all, { query, signal }))
    if (count > 0) {
      const records = pluralise(count, 'progress record')
      notices.push(
        `course ${net.name} goes to the trash with ${records}; restore it within 30 days with: learnctl courses restore ${net.id}`,
      )
    }
  }
  const endpoints = { limit: 1, include_total: 'true', status: 'active' } as const
  if (plan.actions.length > 0 && plan.deletesWhole) {
    const count = await countOf(() => caller.call(calls.endpoints.list, { query: endpoints, signal }))
    if (count > 0)
      notices.push('events that were sent to webhook endpoints; the undo sends events of its own')
  }
  return notices
}

async function countOf(
  read: () => Promise<{ readonly data: { readonly total?: number | undefined } }>,
): Promise<number> {
  try {
    return (await read()).data.total ?? 0
  } catch (error) {
    if (error instanceof ApiError) return 0
    throw error
  }
}
