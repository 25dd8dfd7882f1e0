import type { Given } from '../command/command.ts'
import { confirm } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { isAboutPeople } from '../dataset/dataset.ts'
import { maxFindings, reportToWorkflow } from '../output/github.ts'
import { CommandError, type ExitName, ExitWith, type Finding } from '../terminal/errors.ts'
import { capitalise, createPainterFor, firstLines, pluralise } from '../terminal/format-text.ts'
import { write } from '../terminal/io.ts'
import { createProgressLine } from '../terminal/progress-line.ts'
import { whileApplying } from './apply-lock.ts'
import { type Failure, stagePlan, type Trial, whereAllowed } from './apply-plan.ts'
import { shownCode } from './check-rows.ts'
import { nouns, placeText, recordText } from './entries.ts'
import { keyText } from './identity.ts'
import type { MakePlan, Planned } from './open-plan.ts'
import {
  type Action,
  countsText,
  type Plan,
  planDocument,
  planText,
  reportPlan,
  summaryOf,
  undeclaredNotes,
} from './plan.ts'
import { savePlan } from './plan-file.ts'
import { idPrinter } from './write.ts'

/** Actions of one section before the prompt; diff shows all. */
const maxActionsShown = 20

export interface Applied {
  readonly planned: Planned
  readonly failures: readonly Failure[]
  /** The plan without the refused actions. */
  readonly done: Plan
  readonly ids: readonly string[]
}

export interface PlanForm {
  notes(planned: Planned): readonly string[]
  counts(plan: Plan): string
  print(context: Context, planned: Planned): Promise<void>
  /** Asks if that is needed. `restored` says what the plan restores. */
  confirm(context: Context, planned: Planned, restored: readonly string[]): Promise<void>
  refusal(failures: readonly Failure[], others?: string): CommandError
}

export interface ApplyCommand {
  /** Words without files, also in saved plans: `apply`. */
  readonly command: string
  /** Command that shows the plan: `learnctl diff`. */
  readonly diff: string
  /** Word for what `--max-deletes` limits. */
  readonly verb: 'delete' | 'remove'
  /** Actions that count against `--max-deletes`. */
  readonly isRemoval: (action: Action) => boolean
  readonly isSilent?: (plan: Plan) => boolean
  readonly form?: PlanForm
  /** Reports an applied plan while the academy is still locked. */
  readonly report: (context: Context, applied: Applied) => Promise<void>
}

/** Holds the lock of the academy. `--dry-run` and `--plan-out` change nothing, so they do not wait for the lock. */
export async function runApply(
  context: Context,
  given: Given,
  makePlan: MakePlan,
  command: ApplyCommand,
): Promise<void> {
  if (context.settings.dryRun.value || given.flags['plan-out'] !== undefined) {
    await planAndApply(context, given, makePlan, command)
    return
  }
  await whileApplying(context, context.session, (held) => planAndApply(held, given, makePlan, command))
}

async function planAndApply(
  context: Context,
  given: Given,
  makePlan: MakePlan,
  command: ApplyCommand,
): Promise<void> {
  const { io, output, settings } = context
  const { form = academyForm } = command
  const planned = await makePlan(context)
  const { plan, reader } = planned
  requireFewDeletes(plan, given, command)
  const notes = command.isSilent?.(plan) ? [] : form.notes(planned)
  for (const note of notes) await output.note(note)
  const title = `${command.command} ${given.flags['plan-out'] === undefined ? '--dry-run' : '--plan-out'}`
  if (given.flags['plan-out'] !== undefined) {
    const path = String(given.flags['plan-out'])
    await savePlan(io, path, command.command, planned)
    await output.done(`Saved the plan to ${path}: ${form.counts(plan)}`)
    await reportPlan(io, title, plan)
    return
  }
  if (settings.dryRun.value) {
    await form.print(context, planned)
    await reportPlan(io, title, plan)
    const trial = await trialOf(planned)
    if (trial) for (const text of [...trial.restored, ...trial.warnings]) await output.note(text)
    if (trial && trial.failures.length > 0) throw form.refusal(trial.failures)
    return
  }
  const skipsRefused = given.flags['skip-invalid'] === true
  // With --yes no question follows the trial, and the run itself reports what is refused.
  const isTried = form !== academyForm || !settings.yes.value
  const applied =
    plan.actions.length === 0
      ? { failures: [], done: plan, ids: [] }
      : await carryOut(context, planned, { skipsRefused, isTried }, (restored) =>
          form.confirm(context, planned, restored),
        )
  // The plan has printed some of these notes already.
  for (const text of reader.notes.sentences()) if (!notes.includes(text)) await output.note(text)
  const counts = { ...summaryOf(applied.done), rejected: applied.failures.length }
  await reportToWorkflow(io, { title: `learnctl ${command.command}`, counts, list: [], more: 0 })
  await command.report(context, { planned, ...applied })
}

/** Null if the caller may not write, and for a plan that is too large. */
export async function trialOf({
  plan,
  reader,
  change,
}: Pick<Planned, 'plan' | 'reader' | 'change'>): Promise<Trial | null> {
  if (plan.actions.length === 0) return null
  return whereAllowed(async () => {
    const staged = await stagePlan(reader, change, plan)
    const trial = await staged.trial()
    await staged.drop()
    return trial
  })
}

/**
 * Carries a plan out: nothing of it if an action is refused, unless that is skipped.
 *
 * @param how `isTried` if refusals and what would be restored must be known before the question
 * @param confirm is told what would be restored, if that is known
 */
export async function carryOut(
  context: Context,
  planned: Pick<Planned, 'plan' | 'reader' | 'change'>,
  { skipsRefused, isTried }: { readonly skipsRefused: boolean; readonly isTried: boolean },
  confirm: (restored: readonly string[]) => Promise<void>,
): Promise<Omit<Applied, 'planned'>> {
  const { plan, reader, change } = planned
  const staged = await stagePlan(reader, change, plan)
  const trial = isTried ? await staged.trial() : null
  if (trial && trial.failures.length > 0 && !skipsRefused) {
    await staged.drop()
    return { failures: trial.failures, done: { ...plan, actions: [] }, ids: [] }
  }
  await confirm(trial?.restored ?? [])
  const line = await createProgressLine(context.io, 'changes', staged.size)
  const onDone = (done: number) => line.update(done)
  const { done, ...applied } = await staged.carryOut({ skipsRefused, onDone }).finally(line.stop)
  if (done.size === 0) await staged.drop()
  return { ...applied, done: { ...plan, actions: plan.actions.filter((action) => done.has(action)) } }
}

export async function printPlan({ io, output, settings }: Context, plan: Plan): Promise<void> {
  if (settings.output.value !== 'table') {
    await output.document(planDocument(plan))
    return
  }
  await output.text([...planText(plan, await createPainterFor(io.stdout, io, settings))].join(''))
}

function requireFewDeletes(
  { actions }: Plan,
  { flags }: Given,
  { diff, isRemoval, verb }: ApplyCommand,
): void {
  const limit = flags['max-deletes']
  const deletes = actions.filter(isRemoval).length
  if (limit === undefined || deletes <= Number(limit)) return
  throw new CommandError(
    'too_many_deletes',
    'conflict',
    `Refusing to ${verb} ${pluralise(deletes, 'record')}: --max-deletes is ${limit}`,
    {
      why: ['Nothing was changed'],
      hint: `See them with \`${diff}\`, or allow them: --max-deletes ${deletes}`,
    },
  )
}

async function confirmPlan(context: Context, { plan }: Planned, restored: readonly string[]): Promise<void> {
  const { io, settings, prompts } = context
  if (!settings.yes.value) for (const text of restored) await context.output.note(text)
  if (prompts.refusal === null && !settings.yes.value) {
    const paint = await createPainterFor(io.stderr, io, settings)
    await write(io.stderr, [...planText(plan, paint, maxActionsShown), '\n'].join(''))
  }
  const deletes = plan.actions.some(({ kind }) => kind === 'delete')
  await confirm(context, `apply ${pluralise(plan.actions.length, 'change')}`, async () => ({
    text: `Apply ${countsText(plan).split(';')[0]}`,
    consequence: deletes ? 'What is deleted may not come back.' : '',
  }))
}

/** Throws ExitWith where there is a difference. */
export async function printDiff(
  context: Context,
  command: string,
  planned: Planned,
  form = academyForm,
): Promise<void> {
  await form.print(context, planned)
  for (const text of form.notes(planned)) await context.output.note(text)
  await reportPlan(context.io, command, planned.plan)
  if (planned.plan.actions.length > 0) throw new ExitWith('drift')
}

const academyForm: PlanForm = {
  notes: ({ plan }) => [...plan.notes, ...undeclaredNotes(plan)],
  counts: countsText,
  print: (context, { plan }) => printPlan(context, plan),
  confirm: confirmPlan,
  refusal: (failures) => refusedError(failures),
}

/** Throws a CommandError that lists the refused changes, if there are any. */
export async function reportApplied(
  context: Context,
  { planned: { plan }, failures, done, ids }: Applied,
): Promise<void> {
  const { output, settings } = context
  await idPrinter(context)?.(ids)
  if (settings.output.value !== 'table') {
    await output.document({ ...planDocument(done), failed: failures.map(failureDocument) })
  }
  if (failures.length === 0 || done.actions.length > 0) await output.done(appliedText(plan, done))
  if (failures.length > 0) throw refusedError(failures, outcomeText(done))
}

const nothingChanged = 'nothing was changed'

export function outcomeText({ actions }: Plan): string {
  return actions.length === 0 ? nothingChanged : 'the others are done'
}

function appliedText(plan: Plan, done: Plan): string {
  if (plan.actions.length === 0) return countsText(plan)
  const { create, update, delete: deleted, unchanged } = summaryOf(done)
  return `Applied: ${create} created, ${update} changed, ${deleted} deleted; ${unchanged} as declared`
}

export function failureDocument({ action, code, message }: Failure): Readonly<Record<string, unknown>> {
  return {
    dataset: action.dataset,
    action: action.kind,
    key: keyText(action.key),
    place: action.entry ? placeText(action.entry.place) : null,
    code,
    message,
  }
}

/** @param hasSkipInvalid whether the command has `--skip-invalid`, and lists all failures in its data */
export function refusedError(
  failures: readonly Failure[],
  others = nothingChanged,
  { exit = 'partial' as ExitName, hasSkipInvalid = true } = {},
): CommandError {
  const [first] = failures
  const lines = failures.map(({ action, message }) => {
    const name = `${nouns[action.dataset]} ${keyText(action.key)}: ${message}`
    return action.entry ? `${placeText(action.entry.place)}: ${name}` : capitalise(name)
  })
  return new CommandError(
    first?.code ?? 'failed',
    exit,
    `${pluralise(failures.length, 'change')} refused; ${others}`,
    {
      why: firstLines(lines, 20, hasSkipInvalid ? '; -o json lists all' : ''),
      hint:
        others === nothingChanged
          ? `Correct the files and apply them again${hasSkipInvalid ? ', or leave out what is refused: --skip-invalid' : ''}`
          : 'Correct the files and apply them again: what is done is not repeated',
      findings: {
        list: failures.slice(0, maxFindings).map(({ action, code, message }): Finding => {
          const place = action.entry?.place ?? { file: null, line: 0 }
          const reason = isAboutPeople({ name: action.dataset }) ? shownCode(code) : message
          return { level: 'error', ...place, text: `${recordText(action)}: ${reason}` }
        }),
        more: Math.max(0, failures.length - maxFindings),
      },
    },
  )
}
