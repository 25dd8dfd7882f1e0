import { type Argument, type Command, type Given, noTarget, plainText } from '../command/command.ts'
import { confirm } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { type Flag, planFlags, requirePlanAlone, waitLockFlag } from '../command/flag.ts'
import type { Applying } from '../records/apply-plan.ts'
import type { Part } from '../records/entries.ts'
import type { MakePlan, Planned } from '../records/open-plan.ts'
import type { Plan } from '../records/plan.ts'
import { createPainterFor } from '../terminal/colour.ts'
import { CommandError, ExitWith, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { write } from '../terminal/io.ts'

/** The files that describe an academy. */
const filesArgument: Argument = {
  name: 'files',
  summary: 'Files or folders; - for standard input (default academy.yaml, or the folder academy)',
  optional: true,
  rest: true,
  unlisted: ['--file', '-f'],
}

/** Environment variables that the files may use. */
const envFlag: Flag = {
  name: 'env',
  kind: 'texts',
  placeholder: 'name',
  summary: `Environment variable that the files may use as \${name}`,
}

/** Label of the records that apply creates. */
const labelFlag: Flag = {
  name: 'label',
  kind: 'text',
  placeholder: 'text',
  summary: 'Label (managedBy) of records that these files create',
}

/** Deletes records that are not declared. */
const pruneFlag: Flag = {
  name: 'prune',
  kind: 'switch',
  summary: 'Delete records with the label that are not declared',
}

/** `learnctl validate` */
export const validateCommand: Command = {
  name: 'validate',
  summary: 'Check academy files for problems, offline',
  description:
    'Reads the files of an academy and the tables that they name, and reports every problem with its file and line.\nNothing is sent. The format is described in docs/academies.md.',
  arguments: [filesArgument],
  flags: [
    envFlag,
    { name: 'schema', kind: 'switch', summary: 'Print the JSON Schema of the format, for editors' },
  ],
  refuses: { ...noTarget, ...plainText, dryRun: 'Nothing is sent' },
  examples: ['validate academy.yaml', 'validate --schema > academy.schema.json'],
  run: runValidate,
}

async function runValidate({ io, output, settings }: Context, given: Given): Promise<void> {
  if (given.flags['schema'] === true) {
    const { academySchema } = await import('../records/sources/academy-document.ts')
    await output.text(`${JSON.stringify(academySchema(), null, 2)}\n`)
    return
  }
  const [{ findFiles }, { loadAcademy }, { textsOf }, { countText }] = await Promise.all([
    import('../records/sources/academy.ts'),
    import('../records/sources/academy.ts'),
    import('../records/open-plan.ts'),
    import('../records/entries.ts'),
  ])
  const found = await findFiles(io, given.rest)
  const declared = await loadAcademy(io, found, textsOf(given, 'env'))
  const counts = [...declared].map(([dataset, entries]) => [dataset, entries.length] as const)
  if (['json', 'jsonl', 'yaml'].includes(settings.output.value)) {
    await output.document({ valid: true, files: found, ...Object.fromEntries(counts) })
    return
  }
  const declaredText = counts.map(([dataset, count]) => countText(dataset, count)).join(', ')
  const [first] = found
  const what = found.length === 1 ? `${first} is` : `${pluralise(found.length, 'file')} are`
  await output.done(`${what} valid: ${declaredText || 'nothing declared'}`)
}

/** `learnctl diff` */
export const diffCommand: Command = {
  name: 'diff',
  summary: 'Compare academy files with an academy (exit 9 if they differ)',
  description:
    'Shows what `learnctl apply` would do: + created, ~ changed field by field, - deleted. Nothing is changed.\nExits 9 if there are changes, 0 if there are none. A note lists the lessons that apply keeps: duplicates and\nundeclared ones.',
  arguments: [filesArgument],
  flags: [envFlag, labelFlag, pruneFlag],
  refuses: { ...plainText, dryRun: 'It changes nothing' },
  examples: ['diff academy.yaml', 'diff academy.yaml -o json'],
  run: runDiff,
}

async function runDiff(context: Context, given: Given): Promise<void> {
  const { output } = context
  const { readFiles } = await import('../records/open-plan.ts')
  const { plan } = await (await readFiles(context, given))(context)
  await printPlan(context, plan)
  const { undeclaredNotes } = await import('../records/plan.ts')
  for (const note of [...plan.notes, ...undeclaredNotes(plan)]) await output.note(note)
  if (plan.actions.length > 0) throw new ExitWith('drift')
}

/** Prints a plan to standard output in the requested format. */
async function printPlan({ io, output, settings }: Context, plan: Plan): Promise<void> {
  const { planDocument, planText } = await import('../records/plan.ts')
  if (settings.output.value !== 'table') {
    await output.document(planDocument(plan))
    return
  }
  await output.text([...planText(plan, await createPainterFor(io.stdout, io, settings))].join(''))
}

/** Maximum actions of one section to show before the prompt; diff shows all. */
const maxActionsShown = 20
/** Maximum failures to list; `-o json` lists all. */
const maxFailuresShown = 20

/** `learnctl apply` */
export const applyCommand: Command = {
  name: 'apply',
  interruption: 'continues',
  summary: 'Make an academy match academy files',
  description:
    'Shows the plan and asks before anything is changed; --yes confirms. Users come first, then courses, lessons, enrolments,\nprogress and grades. Records that match are left alone, so an apply that was interrupted continues when it is run again.\nRecords that are not declared are kept, unless --prune and --label say otherwise.',
  arguments: [filesArgument],
  flags: [
    envFlag,
    labelFlag,
    pruneFlag,
    {
      name: 'max-deletes',
      kind: 'number',
      placeholder: 'count',
      summary: 'Refuse to delete more records than this (exit 6)',
    },
    ...planFlags,
    { name: 'concurrency', kind: 'number', summary: 'Maximum requests at once (default 8)' },
    waitLockFlag,
  ],
  createsAcademy: true,
  refuses: plainText,
  examples: ['apply academy.yaml --yes', 'apply academy.yaml --label ci --prune --max-deletes 10 --yes'],
  run: runApply,
}

async function runApply(context: Context, given: Given): Promise<void> {
  const makePlan = await planMaker(context, given)
  // A dry run and --plan-out change nothing, so they do not wait for the lock.
  if (context.settings.dryRun.value || given.flags['plan-out'] !== undefined) {
    await planAndApply(context, given, makePlan)
    return
  }
  const { whileApplying } = await import('../records/apply-lock.ts')
  await whileApplying(context, context.session, given.flags[waitLockFlag.name], (held) =>
    planAndApply(held, given, makePlan),
  )
}

async function planAndApply(context: Context, given: Given, makePlan: MakePlan): Promise<void> {
  const { output, settings } = context
  const planned = await makePlan(context)
  const { plan, options, target } = planned
  requireFewDeletes(plan, given)
  const { undeclaredNotes } = await import('../records/plan.ts')
  for (const note of [...plan.notes, ...undeclaredNotes(plan)]) await output.note(note)
  const { requireOffered } = await import('../records/abilities.ts')
  const changes = plan.actions.map((action) => ({ ...action, record: action.entry?.record ?? null }))
  const batched = await requireOffered(context, planned.reader.caller, changes)
  if (given.flags['plan-out'] !== undefined) {
    const path = String(given.flags['plan-out'])
    const { savePlan } = await import('../records/open-plan.ts')
    await savePlan(context.io, path, plan, { target, options })
    const { countsText } = await import('../records/plan.ts')
    await output.done(`Saved the plan to ${path}: ${countsText(plan)}`)
    return
  }
  if (settings.dryRun.value) {
    await printPlan(context, plan)
    return
  }
  if (plan.actions.length > 0) await confirmPlan(context, plan)
  await applyAll(context, planned, batched)
}

function planMaker(context: Context, given: Given): Promise<MakePlan> {
  const { plan } = given.flags
  requirePlanAlone(given.flags, ['label', 'prune'], given.rest.length > 0)
  return import('../records/open-plan.ts').then(({ readFiles, readSaved }) =>
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
    `Refusing to delete ${pluralise(deletes, 'record')}: --max-deletes is ${limit}`,
    {
      why: ['Nothing was changed'],
      hint: `See them with \`learnctl diff\`, or allow them: --max-deletes ${deletes}`,
    },
  )
}

/** Shows the plan on a terminal and asks for confirmation. */
async function confirmPlan(context: Context, plan: Plan): Promise<void> {
  const { io, settings, prompts } = context
  const { planText, countsText } = await import('../records/plan.ts')
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

async function applyAll(
  { io, output, settings }: Context,
  { plan, reader, target, journal }: Planned,
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
    import('../records/apply-plan.ts'),
    import('../records/plan.ts'),
    import('../terminal/progress-line.ts'),
    import('../records/entries.ts'),
    import('../records/identity.ts'),
    import('../records/plan.ts'),
  ])
  const line = await createProgressLine(io, 'changes', plan.actions.length)
  const failures = await applyPlan(
    {
      ...reader,
      ...{ batched, journal },
      onDone: (done) => line.update(done),
    },
    plan,
  ).finally(() => {
    line.stop()
    journal.close()
  })
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
    `${pluralise(failures.length, 'change')} failed; the others are done`,
    {
      why: [
        ...failures.slice(0, maxFailuresShown).map(({ action, message }) => {
          const place = action.entry ? `${placeText(action.entry.place)}: ` : ''
          return `${place}${nouns[action.dataset]} ${keyText(action.key)}: ${message}`
        }),
        ...(failures.length > maxFailuresShown
          ? [`and ${failures.length - maxFailuresShown} more; -o json lists all`]
          : []),
      ],
      hint: 'Correct the files and apply them again: what is done is not repeated',
    },
  )
}

/** `learnctl dump` */
export const dumpCommand: Command = {
  name: 'dump',
  summary: 'Write an academy to academy files',
  description:
    'Writes users, courses with lessons, enrolments, progress and grades as `learnctl apply` reads them, to standard output\nor a file (YAML, or JSON by its name), or to a folder. Passwords are left out.',
  flags: [
    { name: 'file', kind: 'text', placeholder: 'path', summary: 'Write one file, .yaml or .json' },
    {
      name: 'dir',
      kind: 'text',
      placeholder: 'path',
      summary: 'Write a folder: a file for each course, tables for the rest',
    },
    { name: 'force', kind: 'switch', summary: 'Overwrite existing files' },
  ],
  refuses: { ...plainText, dryRun: 'It changes nothing' },
  examples: ['dump --file academy-dump.yaml', 'dump --dir academy-dump'],
  run: runDump,
}

async function runDump(context: Context, { flags }: Given): Promise<void> {
  const { io, output, settings } = context
  const [file, dir] = [flags['file'], flags['dir']]
  if (file !== undefined && dir !== undefined)
    throw new UsageError('--file and --dir cannot be used together')
  const [{ academyChunks, jsonDocument, yamlText }, { openWriting }, { countText }] = await Promise.all([
    import('../records/dump.ts'),
    import('../records/execute.ts'),
    import('../records/entries.ts'),
  ])
  const counts = new Map<Part, number>()
  const reader = await openWriting(context)
  async function* counting() {
    for await (const chunk of academyChunks(reader)) {
      counts.set(chunk.part, (counts.get(chunk.part) ?? 0) + chunk.records.length)
      yield chunk
    }
  }
  const force = flags['force'] === true
  if (dir !== undefined) {
    const { dumpFolder } = await import('../records/dump.ts')
    await dumpFolder(io, String(dir), counting(), force)
  } else {
    const json = file === undefined ? settings.output.value === 'json' : /\.json$/i.test(String(file))
    const text = (json ? jsonDocument : yamlText)(counting())
    if (file === undefined) return output.exact(text)
    const { openTarget } = await import('../terminal/target-file.ts')
    const target = await openTarget(io.cwd, String(file), { force, mode: 0o600 })
    try {
      for await (const piece of text) await target.write(Buffer.from(piece))
      await target.finish()
    } catch (error) {
      await target.discard()
      throw error
    }
  }
  const countsText = [...counts].map(([part, count]) => countText(part, count)).join(', ')
  await output.done(`Wrote ${file ?? dir}: ${countsText || 'an empty academy'}`)
}
