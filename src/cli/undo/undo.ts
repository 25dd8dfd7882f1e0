import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { calls } from '../../contract/calls.ts'
import type { UndoFailure, Undone, UndoPlan } from '../../contract/undo.ts'
import { confirm } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { idPrinter } from '../records/write.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import { CommandError } from '../terminal/errors.ts'
import { capitalise, createPainterFor, firstLines, pluralise } from '../terminal/format-text.ts'
import { write } from '../terminal/io.ts'
import { findChange } from './changes.ts'
import { countsText, nounText, undoCounts, undoDocument, undoText } from './undo-text.ts'

/** Lines of a section before the question, and of failures. */
const maxShown = 20

export async function undoChange(context: Context, reference: string): Promise<void> {
  const { io, session, output } = context
  const caller = await session.caller()
  await requireLearnctl(session, caller, 'undo', io.signal)
  const { id, command, source, state, createdAt, userEmail } = await findChange(context, caller, reference)
  if (state === 'running')
    await output.note(`The end of change ${id} was not reported: it may still be running`)
  const named = source === null ? command : `${command} (${source})`
  await undo(context, caller, id, `${named} of ${createdAt.slice(0, 16).replace('T', ' ')} by ${userEmail}`)
}

/** `reference` names a request or an entry of the audit log. */
export async function revertEntry(context: Context, reference: string): Promise<void> {
  const { io, session } = context
  const caller = await session.caller()
  await requireLearnctl(session, caller, 'audit revert', io.signal)
  try {
    await undo(context, caller, reference, reference)
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error
    throw new CommandError('not_found', 'notFound', `The audit log has no entry or request ${reference}`, {
      hint: 'Find the entry with `learnctl audit list`; progress is not in the audit log',
    })
  }
}

async function undo(context: Context, caller: Caller, changeId: string, name: string): Promise<void> {
  const { io, settings, output, prompts } = context
  const { data: plan } = await caller.call(calls.undo.plan, {
    params: { changeId },
    signal: io.signal,
  })
  for (const id of plan.continues) await output.note(`Continuing undo ${id}, which did not complete`)
  const isTable = settings.output.value === 'table'
  if (settings.dryRun.value) {
    if (!isTable) return output.document(undoDocument(plan))
    const paint = await createPainterFor(io.stdout, io, settings)
    return output.text([...undoText(plan, paint)].join(''))
  }
  if (plan.actions.length === 0) {
    if (!isTable) await output.document({ ...undoDocument(plan), failed: [] })
    await output.done(countsText(plan))
    return noteLeft(context, plan)
  }
  const isAsked = prompts.refusal === null && !settings.yes.value
  if (isAsked) {
    const paint = await createPainterFor(io.stderr, io, settings)
    await write(io.stderr, [...undoText(plan, paint, maxShown), '\n'].join(''))
  }
  await confirm(context, `undo ${name}`, async () => ({
    text: `Undo ${name}: ${countsText(plan).split(';')[0]}`,
    consequence: '',
  }))
  await report(context, plan, await carriedOut(context, caller, changeId, plan), isAsked)
}

/** Carries out a plan: a large one by several requests, each for some of its records. */
async function carriedOut(
  { io: { signal } }: Context,
  caller: Caller,
  changeId: string,
  { digest }: UndoPlan,
): Promise<Undone> {
  const failed = new Map<string, UndoFailure>()
  const send = (continues: string | null) =>
    caller.call(calls.undo.carryOut, { params: { changeId }, body: { digest, continues }, signal })
  for (let { data } = await send(null); ; { data } = await send(data.change)) {
    for (const each of data.failed) failed.set(`${each.noun} ${each.id}`, each)
    if (data.isComplete) return { ...data, failed: [...failed.values()] }
  }
}

async function noteLeft({ output }: Context, { kept, lasting }: UndoPlan): Promise<void> {
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
  { change: undoId, failed }: Undone,
  isShown: boolean,
): Promise<void> {
  const { output, settings } = context
  const isFailed = new Set(failed.map(({ noun, id }) => `${noun} ${id}`))
  const done = { ...plan, actions: plan.actions.filter(({ noun, id }) => !isFailed.has(`${noun} ${id}`)) }
  await idPrinter(context)?.(done.actions.flatMap(({ action, id }) => (action === 'delete' ? [] : [id])))
  if (settings.output.value !== 'table') {
    await output.document({ ...undoDocument(done), change: undoId, failed })
  }
  const { remove, restore, change } = undoCounts(done)
  const next = undoId === null ? '' : `; undo this with: learnctl undo ${undoId}`
  await output.done(`Undone: ${remove} removed, ${restore} restored, ${change} changed back${next}`)
  // The plan before the question listed it.
  if (!isShown) await noteLeft(context, plan)
  const [first] = failed
  if (!first) return
  const lines = failed.map(({ noun, name, message }) => `${capitalise(nounText(noun))} ${name}: ${message}`)
  throw new CommandError(
    first.code,
    'partial',
    `${pluralise(failed.length, 'record')} could not be undone; the others are done`,
    {
      why: firstLines(lines, maxShown, '; -o json lists all'),
      hint: 'Run the same command again to try these once more',
    },
  )
}
