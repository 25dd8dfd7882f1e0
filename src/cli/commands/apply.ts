import type { Applying } from '../academy/apply-plan.ts'
import type { Plan } from '../academy/plan.ts'
import type { MakePlan, Planned } from '../academy/plan-run.ts'
import type { Command, Given } from '../command/command.ts'
import { confirm } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { plainText } from '../command/refusals.ts'
import { waitLockFlag } from '../command/wait-lock-flag.ts'
import { painterFor } from '../terminal/colour.ts'
import { counted } from '../terminal/counted.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { write } from '../terminal/io.ts'
import { env, files, label, prune } from './academy-files.ts'
import { printPlan } from './diff.ts'

/** Maximum actions of one section to show before the prompt; diff shows all. */
const shownActions = 20
const toldFailures = 20

/** `learnctl apply` */
export const command: Command = {
  name: 'apply',
  interruption: 'continues',
  summary: 'Make an academy as academy files declare it',
  description:
    'Shows the plan and asks before anything is changed; --yes confirms. Users come first, then courses, lessons, enrolments,\nprogress and grades. What is as declared is left alone, so an apply that was interrupted continues when it is run again.\nRecords that are not declared are kept, unless --prune and --label say otherwise.',
  arguments: [files],
  flags: [
    env,
    label,
    prune,
    {
      name: 'max-deletes',
      kind: 'number',
      placeholder: 'count',
      summary: 'Refuse to delete more records than this (exit 6)',
    },
    {
      name: 'plan-out',
      kind: 'text',
      placeholder: 'path',
      summary: 'Save the plan to this file and change nothing',
    },
    {
      name: 'plan',
      kind: 'text',
      placeholder: 'path',
      summary: 'Apply a saved plan; refused if the academy has changed since (exit 6)',
    },
    { name: 'concurrency', kind: 'number', summary: 'Maximum requests at once (default 8)' },
    waitLockFlag,
  ],
  createsAcademy: true,
  refuses: plainText,
  examples: ['apply academy.yaml --yes', 'apply academy.yaml --label ci --prune --max-deletes 10 --yes'],
  run,
}

async function run(context: Context, given: Given): Promise<void> {
  const makePlan = await planMaker(context, given)
  // A dry run and --plan-out change nothing, so they do not wait for the lock.
  if (context.settings.dryRun.value || given.flags['plan-out'] !== undefined) {
    await planAndApply(context, given, makePlan)
    return
  }
  const { whileApplying } = await import('../course-file/apply-lock.ts')
  await whileApplying(context, context.session, given.flags[waitLockFlag.name], (held) =>
    planAndApply(held, given, makePlan),
  )
}

async function planAndApply(context: Context, given: Given, makePlan: MakePlan): Promise<void> {
  const { output, settings } = context
  const planned = await makePlan(context)
  const { plan, options, target } = planned
  requireFewDeletes(plan, given)
  const { undeclaredNotes } = await import('../academy/plan-text.ts')
  for (const note of [...plan.notes, ...undeclaredNotes(plan)]) await output.note(note)
  if (given.flags['plan-out'] !== undefined) {
    const path = String(given.flags['plan-out'])
    const { savePlan } = await import('../academy/plan-file.ts')
    await savePlan(context.io, path, plan, { target, options })
    const { countsText } = await import('../academy/plan-text.ts')
    await output.done(`Saved the plan to ${path}: ${countsText(plan)}`)
    return
  }
  if (settings.dryRun.value) {
    await printPlan(context, plan)
    return
  }
  const { requireOffered } = await import('../records/abilities.ts')
  const changes = plan.actions.map((action) => ({ ...action, record: action.entry?.record ?? null }))
  const batched = await requireOffered(context, planned.reader.caller, changes)
  if (plan.actions.length > 0) await ask(context, plan)
  await applyAll(context, planned, batched)
}

function planMaker(context: Context, given: Given): Promise<MakePlan> {
  const { plan } = given.flags
  const others = ['label', 'prune', 'plan-out'].filter((name) => given.flags[name] !== undefined)
  if (plan !== undefined && (given.rest.length > 0 || others.length > 0)) {
    const what = others.length > 0 ? `--${others[0]}` : 'files'
    throw new UsageError(`--plan and ${what} cannot be used together`, {
      why: ['A saved plan has everything that it was made with'],
    })
  }
  return import('../academy/plan-run.ts').then(({ readFiles, readSaved }) =>
    plan === undefined ? readFiles(context, given) : readSaved(context, given, String(plan)),
  )
}

function requireFewDeletes({ actions }: Plan, { flags }: Given): void {
  const limit = flags['max-deletes']
  const deletes = actions.filter(({ kind }) => kind === 'delete').length
  if (limit === undefined || deletes <= Number(limit)) return
  throw new CommandError(
    'too_many_deletes',
    'conflict',
    `Refusing to delete ${counted(deletes, 'record')}: --max-deletes is ${limit}`,
    {
      why: ['Nothing was changed'],
      hint: `See them with \`learnctl diff\`, or allow them: --max-deletes ${deletes}`,
    },
  )
}

/** Shows the plan on a terminal and asks for confirmation. */
async function ask(context: Context, plan: Plan): Promise<void> {
  const { io, settings, prompts } = context
  const { planText, countsText } = await import('../academy/plan-text.ts')
  if (prompts.refusal === null && !settings.yes.value) {
    const paint = await painterFor(io.stderr, io, settings)
    await write(io.stderr, [...planText(plan, paint, shownActions), '\n'].join(''))
  }
  const deletes = plan.actions.some(({ kind }) => kind === 'delete')
  await confirm(context, `apply ${counted(plan.actions.length, 'change')}`, async () => ({
    text: `Apply ${countsText(plan).split(';')[0]}`,
    consequence: deletes ? 'What is deleted may not come back.' : '',
  }))
}

async function applyAll(
  { io, output, settings }: Context,
  { plan, reader, target }: Planned,
  batched: Applying['batched'],
): Promise<void> {
  const [
    { applyPlan },
    { planDocument, countsText },
    { createProgressLine },
    { nouns, placeText },
    { keyText },
    { summaryOf },
  ] = await Promise.all([
    import('../academy/apply-plan.ts'),
    import('../academy/plan-text.ts'),
    import('../terminal/progress-line.ts'),
    import('../academy/entry.ts'),
    import('../records/identity.ts'),
    import('../academy/plan.ts'),
  ])
  const line = await createProgressLine(io, 'changes', plan.actions.length)
  const failures = await applyPlan(
    {
      ...reader,
      batched,
      onDone: (done) => line.update(done),
    },
    plan,
  ).finally(() => line.stop())
  for (const text of reader.notes.sentences(target)) await output.note(text)

  const failed = new Set(failures.map(({ action }) => action))
  const done = { ...plan, actions: plan.actions.filter((action) => !failed.has(action)) }
  const { create, update, delete: deleted, unchanged } = summaryOf(done)
  if (settings.output.value !== 'table') {
    await output.document({
      ...planDocument(done),
      failed: failures.map(({ action, code, message }) => ({
        dataset: action.dataset,
        action: action.kind,
        key: keyText(action.key),
        place: action.entry ? placeText(action.entry.place) : null,
        code,
        message,
      })),
    })
  }
  await output.done(
    plan.actions.length === 0
      ? countsText(plan)
      : `Applied: ${create} created, ${update} changed, ${deleted} deleted; ${unchanged} as declared`,
  )
  if (failures.length === 0) return
  const [first] = failures
  throw new CommandError(
    first?.code ?? 'failed',
    'partial',
    `${counted(failures.length, 'change')} failed; the others are done`,
    {
      why: [
        ...failures.slice(0, toldFailures).map(({ action, message }) => {
          const place = action.entry ? `${placeText(action.entry.place)}: ` : ''
          return `${place}${nouns[action.dataset]} ${keyText(action.key)}: ${message}`
        }),
        ...(failures.length > toldFailures
          ? [`and ${failures.length - toldFailures} more; -o json lists all`]
          : []),
      ],
      hint: 'Correct the files and apply them again: what is done is not repeated',
    },
  )
}
