import {
  type Argument,
  type Command,
  type Given,
  noColumns,
  noTarget,
  plainText,
} from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { type Flag, planFlags, requirePlanAlone, textsIn } from '../command/flag.ts'
import type { MakePlan } from '../records/open-plan.ts'
import { UsageError } from '../terminal/errors.ts'

const filesArgument: Argument = {
  name: 'files',
  summary: 'Files or folders; - for standard input (default academy.yaml, or the folder academy)',
  file: 'read',
  optional: true,
  rest: true,
  unlisted: ['--file', '-f'],
}

const envFlag: Flag = {
  name: 'env',
  kind: 'texts',
  placeholder: 'name',
  summary: `Environment variable that the files may use as \${name}`,
}

const labelFlag: Flag = {
  name: 'label',
  kind: 'text',
  placeholder: 'text',
  summary: 'Label (managedBy) of records that these files create',
}

const pruneFlag: Flag = {
  name: 'prune',
  destructive: true,
  kind: 'switch',
  summary: 'Delete records with the label that are not declared',
}

export const validateCommand: Command = {
  name: 'validate',
  summary: 'Check academy files for problems, offline',
  writes: [],
  prints: ['ValidFiles'],
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

async function runValidate(context: Context, given: Given): Promise<void> {
  const { io, output } = context
  if (given.flags['schema'] === true) {
    const { academySchema } = await import('../records/sources/academy-document.ts')
    await output.text(`${JSON.stringify(academySchema(), null, 2)}\n`)
    return
  }
  const { findFiles, loadAcademy, printValid } = await import('../records/sources/academy.ts')
  const found = await findFiles(io, given.rest)
  await printValid(context, found, await loadAcademy(io, found, textsIn(given.flags, 'env')))
}

export const diffCommand: Command = {
  name: 'diff',
  summary: 'Compare academy files with an academy (exit 9 if they differ)',
  writes: [],
  prints: ['Plan'],
  exits: ['drift'],
  description:
    'Shows what `learnctl apply` would do: + created, ~ changed field by field, - deleted. Nothing is changed.\nExits 9 if there are changes, 0 if there are none. A note lists the lessons that apply keeps: duplicates and\nundeclared ones.',
  arguments: [filesArgument],
  flags: [envFlag, labelFlag, pruneFlag],
  refuses: { ...plainText, dryRun: 'It changes nothing' },
  examples: ['diff academy.yaml', 'diff academy.yaml -o json'],
  run: runDiff,
}

async function runDiff(context: Context, given: Given): Promise<void> {
  const { readFiles } = await import('../records/open-plan.ts')
  const makePlan = await readFiles(context, given)
  const { printDiff } = await import('../records/run-apply.ts')
  await printDiff(context, 'diff', await makePlan(context))
}

export const applyCommand: Command = {
  name: 'apply',
  interruption: 'continues',
  summary: 'Make an academy match academy files',
  writes: ['academy'],
  prints: ['AppliedPlan', 'Plan'],
  exits: ['partial'],
  confirms: true,
  description:
    'Shows the plan and asks before anything is changed; --yes confirms. Users come first, then courses, lessons, enrolments,\nprogress and grades. Up to 2,000 changes are made together or not at all: nothing is changed if one is refused, unless --skip-invalid.\nRecords that are not declared are kept, unless --prune and --label say otherwise.',
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
    {
      name: 'skip-invalid',
      kind: 'switch',
      summary: 'Leave out changes that the academy refuses (exit 8)',
    },
    ...planFlags,
  ],
  createsAcademy: true,
  refuses: noColumns,
  examples: ['apply academy.yaml --yes', 'apply academy.yaml --label ci --prune --max-deletes 10 --yes'],
  run: runApply,
}

async function runApply(context: Context, given: Given): Promise<void> {
  const makePlan = await planMaker(context, given)
  const { reportApplied, runApply } = await import('../records/run-apply.ts')
  await runApply(context, given, makePlan, {
    command: 'apply',
    diff: 'learnctl diff',
    verb: 'delete',
    isRemoval: ({ kind }) => kind === 'delete',
    report: reportApplied,
  })
}

function planMaker(context: Context, given: Given): Promise<MakePlan> {
  const { plan } = given.flags
  requirePlanAlone(given.flags, ['label', 'prune'], given.rest.length > 0)
  return import('../records/open-plan.ts').then(({ readFiles, readSaved }) =>
    plan === undefined ? readFiles(context, given) : readSaved(context, given, String(plan)),
  )
}

export const dumpCommand: Command = {
  name: 'dump',
  summary: 'Write an academy to academy files',
  writes: [],
  prints: ['AcademyFile'],
  description:
    'Writes users, courses with lessons, groups, enrolments, progress and grades as `learnctl apply` reads them, to standard output\nor a file (YAML, or JSON by its name), or to a folder. Passwords are left out.',
  flags: [
    {
      name: 'file',
      kind: 'text',
      placeholder: 'path',
      file: 'write',
      summary: 'Write one file, .yaml or .json',
    },
    {
      name: 'folder',
      unlisted: ['--dir'],
      kind: 'text',
      placeholder: 'path',
      file: 'write',
      summary: 'Write a folder: a file for each course, tables for the rest',
    },
    { name: 'force', kind: 'switch', summary: 'Overwrite existing files', destructive: true },
  ],
  refuses: { ...plainText, dryRun: 'It changes nothing' },
  examples: ['dump --file academy-dump.yaml', 'dump --folder academy-dump'],
  run: runDump,
}

async function runDump(context: Context, { flags }: Given): Promise<void> {
  const { io, output, settings } = context
  const { file, folder } = flags
  if (file !== undefined && folder !== undefined)
    throw new UsageError('--file and --folder cannot be used together')
  const [
    { academyChunks, createRecordCounter, jsonDocument, yamlText },
    { openWriter },
    { countText },
    { requireLearnctl },
  ] = await Promise.all([
    import('../records/dump.ts'),
    import('../records/write.ts'),
    import('../records/entries.ts'),
    import('../session/learnctl-server.ts'),
  ])
  const counter = createRecordCounter()
  const reader = await openWriter(context)
  await requireLearnctl(context.session, reader.caller, 'dump', io.signal)
  async function* counting() {
    for await (const chunk of academyChunks(reader)) {
      counter.add(chunk)
      yield chunk
    }
  }
  const force = flags['force'] === true
  if (folder !== undefined) {
    const { dumpFolder } = await import('../records/dump.ts')
    await dumpFolder(io, String(folder), counting(), force)
  } else {
    const json = file === undefined ? settings.output.value === 'json' : /\.json$/i.test(String(file))
    const text = (json ? jsonDocument : yamlText)(counting())
    if (file === undefined) return output.exact(text)
    const { writeTarget } = await import('../terminal/target-file.ts')
    await writeTarget(io.cwd, String(file), text, { force, mode: 0o600 })
  }
  const countsText = [...counter.counts].map(([part, count]) => countText(part, count)).join(', ')
  await output.done(`Wrote ${file ?? folder}: ${countsText || 'an empty academy'}`)
}
