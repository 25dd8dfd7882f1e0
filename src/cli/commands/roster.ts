import {
  type Argument,
  type Command,
  checkArgument,
  type Given,
  noColumns,
  notAList,
  plainText,
} from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { checkChoices, type Flag, planFlags, requirePlanAlone, textsIn } from '../command/flag.ts'
import { pseudonymFlag } from '../pseudonyms/pseudonym-flags.ts'
import type { Plan } from '../records/plan.ts'
import type { RosterToApply } from '../roster/apply-roster.ts'
import type { RosterReadOptions } from '../roster/declared-roster.ts'
import { exportFormats, formatNames } from '../roster/roster.ts'
import { readRosterOptions, rosterFlags, scopeFlags, scopeOf } from '../roster/roster-options.ts'
import { sheetFlag } from '../targets/sheet-flag.ts'
import { ExitWith, UsageError } from '../terminal/errors.ts'

const pruneFlags = [
  {
    name: 'label',
    kind: 'text',
    placeholder: 'text',
    summary: 'Label (managedBy) of records that the roster creates (default roster:<system or file>)',
  },
  {
    name: 'prune',
    destructive: true,
    kind: 'switch',
    summary:
      'Remove records with the label that the roster lacks: suspend users, archive courses, delete enrolments',
  },
  {
    name: 'delete-users',
    destructive: true,
    kind: 'switch',
    summary: 'Delete users who are removed instead of suspending them',
  },
] as const satisfies readonly Flag[]

const skipInvalidFlag = {
  name: 'skip-invalid',
  kind: 'switch',
  summary: 'Leave out rows with problems (exit 8); cannot be used with --prune',
} as const satisfies Flag

const sourceArgument: Argument = {
  name: 'source',
  file: 'read',
  summary: 'Roster: folder, zip file, CSV file or integration:<kind>; - for a CSV file on standard input',
  optional: true,
  unlisted: ['--file', '-f'],
}

const diffCommand: Command = {
  name: 'diff',
  summary: 'Compare rosters and academies (exit 9 if they differ)',
  writes: [],
  prints: ['Plan'],
  exits: ['drift'],
  description:
    'With two sides, shows what changes the first into the second. A side is a roster, a profile (profile:<name>) or the\ndatabase of a local academy. With one roster, shows what roster apply would do. Only records and fields that both sides\ncan have are compared; notes name the others. Exits 9 if there are differences, 0 if there are none.',
  arguments: [
    {
      name: 'sides',
      file: 'read',
      summary:
        'One or two of: roster, - (CSV on standard input), integration:<kind>, profile:<name>, database of a local academy',
      rest: true,
    },
  ],
  flags: [...rosterFlags, ...scopeFlags, ...pruneFlags, skipInvalidFlag],
  plansForEmpty: true,
  refuses: { ...plainText, dryRun: 'It changes nothing' },
  examples: [
    'roster diff school.zip',
    'roster diff monday.zip tuesday.zip -o csv',
    'roster diff integration:canvas',
  ],
  run: runDiff,
}

async function runDiff(context: Context, given: Given): Promise<void> {
  const { flags, rest } = given
  checkChoices([...scopeFlags, ...pruneFlags], flags)
  const [first, second, ...others] = rest
  if (first === undefined || others.length > 0) throw new UsageError('Give one or two sides to compare')
  const { io, output } = context
  const report = async (plan: Plan, source: string) => {
    const [{ reportPlan }, { placeIn }] = await Promise.all([
      import('../records/plan.ts'),
      import('../roster/declared-roster.ts'),
    ])
    await reportPlan(io, 'roster diff', plan, (place) => placeIn(source, place))
  }
  const { planRoster, printDifferences } = await import('../roster/apply-roster.ts')
  if (second === undefined) {
    const { plan, notes } = await planRoster(context, await rosterOf(context, given, first))
    await printDifferences(context, plan)
    for (const note of notes) await output.note(note)
    await report(plan, first)
    if (plan.actions.length > 0) throw new ExitWith('drift')
    return
  }
  const unused = pruneFlags.find(({ name }) => flags[name] !== undefined && flags[name] !== false)
  if (unused) throw new UsageError(`--${unused.name} and two sides cannot be used together`)
  const { openSide, compareSides } = await import('../roster/compare-rosters.ts')
  if (first === '-' && second === '-') throw new UsageError('Standard input can be one side only')
  const scope = scopeOf(given.flags)
  const options = await readOptionsOf(context, given, [first, second])
  await context.io.expectGarbage?.()
  const before = await openSide(context, first, scope, options)
  const after = await openSide(context, second, scope, options)
  const { plan, notCompared } = await compareSides(before, after)
  await printDifferences(context, plan)
  for (const note of [...new Set([...before.notes, ...after.notes])]) await output.note(note)
  for (const text of notCompared) await output.note(`Not compared: ${text}`)
  await report(plan, second)
  if (plan.actions.length > 0) throw new ExitWith('drift')
}

const applyCommand: Command = {
  name: 'apply',
  interruption: 'continues',
  summary: 'Make an academy match a roster',
  writes: ['academy'],
  prints: ['AppliedRoster', 'Plan'],
  exits: ['partial'],
  confirms: true,
  description:
    'Shows the plan and asks before anything is changed; --yes confirms. Users match by external id, else by e-mail address.\nRecords that match are left alone, so an apply that was interrupted continues when it is run again. Grades and progress\nare never removed. At the end it prints the counts of both sides: exit 0 if all records are equal, 8 if some were refused.\nPrints nothing if there was nothing to do and no terminal.',
  arguments: [sourceArgument],
  flags: [
    ...rosterFlags,
    ...scopeFlags,
    ...pruneFlags,
    skipInvalidFlag,
    {
      name: 'max-deletes',
      kind: 'number',
      placeholder: 'count',
      summary: 'Refuse to remove more records than this, suspended and archived ones included (exit 6)',
    },
    {
      name: 'report',
      kind: 'text',
      placeholder: 'path',
      file: 'write',
      summary: 'Write a report to this JSON file',
    },
    ...planFlags,
  ],
  createsAcademy: true,
  plansForEmpty: true,
  refuses: noColumns,
  examples: [
    'roster apply school.zip --dry-run',
    'roster apply school.zip --yes --prune --max-deletes 50 --report report.json',
  ],
  run: runApply,
}

async function runApply(context: Context, given: Given): Promise<void> {
  checkChoices([...scopeFlags, ...pruneFlags], given.flags)
  const { applyRoster } = await import('../roster/apply-roster.ts')
  await applyRoster(context, given, () => sourceOf(context, given))
}

async function sourceOf(context: Context, given: Given) {
  const { flags, arguments: names } = given
  const path = names['source']
  const others = [...rosterFlags, ...scopeFlags, ...pruneFlags, skipInvalidFlag].map(({ name }) => name)
  requirePlanAlone(flags, others, path !== undefined)
  if (flags['plan'] !== undefined) return { plan: String(flags['plan']) }
  if (path === undefined) {
    throw new UsageError('<source> is required', {
      code: 'missing_value',
      hint: 'Name a folder, a zip file or a CSV file: learnctl roster apply roster.zip',
    })
  }
  return rosterOf(context, given, path)
}

async function rosterOf(context: Context, given: Given, path: string): Promise<RosterToApply> {
  const { flags } = given
  const prune = flags['prune'] === true
  const read = await readOptionsOf(context, given, [path])
  if (prune && read.skipInvalid) {
    throw new UsageError('--prune and --skip-invalid cannot be used together', {
      why: ['A record whose row has a problem would be removed'],
    })
  }
  const [{ planOptions }, { defaultLabel, readDeclaredRoster }] = await Promise.all([
    import('../roster/apply-roster.ts'),
    import('../roster/declared-roster.ts'),
  ])
  await context.io.expectGarbage?.()
  const roster = await readDeclaredRoster(context, path, scopeOf(given.flags), read)
  const label = flags['label'] === undefined ? defaultLabel(roster) : String(flags['label'])
  const closes = flags['delete-users'] === true ? (['courses'] as const) : (['users', 'courses'] as const)
  return { roster, options: planOptions(roster, { label, prune, closes, skipsUnknown: read.skipInvalid }) }
}

async function readOptionsOf(
  { io }: Context,
  { flags }: Given,
  sources: readonly string[],
): Promise<RosterReadOptions> {
  return { ...(await readRosterOptions(io, flags, sources)), skipInvalid: flags['skip-invalid'] === true }
}

const exportFlags = [
  {
    name: 'format',
    kind: 'text',
    placeholder: 'format',
    summary: 'Format of the package',
    choices: exportFormats,
    required: true,
  },
  {
    name: 'oneroster-version',
    kind: 'text',
    placeholder: 'version',
    summary: 'Version of OneRoster (default 1.2)',
    choices: ['1.2', '1.1'],
  },
  ...scopeFlags,
  {
    name: 'org-name',
    kind: 'text',
    placeholder: 'name',
    summary: 'Name of the school in OneRoster (default the name of the profile, host or database)',
  },
  {
    name: 'org-id',
    kind: 'text',
    placeholder: 'id',
    summary: 'Id of the school in OneRoster (default made of its name)',
  },
  {
    name: 'category',
    kind: 'text',
    placeholder: 'category',
    summary: 'Category of new courses in Moodle, by number or path; required for its courses',
  },
  { name: 'force', kind: 'switch', summary: 'Replace an existing package', destructive: true },
] as const satisfies readonly Flag[]

const formatByFlag: Readonly<Record<string, string>> = {
  'oneroster-version': 'oneroster',
  'org-name': 'oneroster',
  'org-id': 'oneroster',
  category: 'moodle',
}

const exportCommand: Command = {
  name: 'export',
  summary: 'Write a package that another system imports: OneRoster, Canvas SIS or Moodle',
  writes: ['files'],
  prints: ['RosterPackage'],
  description:
    'Writes a folder, or a zip file if the target ends in .zip, for you alone (mode 0600), completely or not at all. The same\nacademy gives the same bytes. Records have your own ids, else those of the platform. Passwords are never exported, and\nnotes say what the format does not hold; docs/rosters.md has the whole table.',
  arguments: [{ name: 'target', summary: 'Folder to write, or a file that ends in .zip', file: 'write' }],
  flags: exportFlags,
  refuses: { ...noColumns, dryRun: 'It changes nothing' },
  refusesFlags: {
    [sheetFlag.name]:
      'A package has several files; write one kind of record with: learnctl users export --to-sheet',
    [pseudonymFlag.name]: 'A roster is made of names; use: learnctl analytics export --pseudonymise',
  },
  examples: [
    'roster export --format oneroster oneroster.zip',
    'roster export --format canvas canvas-files --course ext:AAA-2014J',
    'roster export --format moodle moodle-files --category 1',
  ],
  run: runExport,
}

async function runExport(
  context: Context,
  { arguments: { target = '' }, flags: given }: Given,
): Promise<void> {
  checkChoices(exportFlags, given)
  const { output, settings } = context
  if (target === '-') {
    throw new UsageError('Standard output is not supported: a package has several files', {
      hint: 'Name a folder, or a file that ends in .zip',
    })
  }
  const { countsText, exportRoster } = await import('../roster/export-roster.ts')
  const { oneRosterVersions } = await import('../roster/oneroster-tables.ts')
  const format = exportFormats.find((each) => each === given['format'])
  const version = oneRosterVersions.find((each) => each === (given['oneroster-version'] ?? '1.2'))
  if (!format || !version) {
    throw new UsageError('--format is required', { hint: `Choose one of ${exportFormats.join(', ')}` })
  }
  for (const [name, only] of Object.entries(formatByFlag)) {
    if (given[name] === undefined || only === format) continue
    throw new UsageError(`--${name} is not supported: it is for --format ${only}`)
  }
  const text = (name: string) => (given[name] === undefined ? null : String(given[name]))
  const report = await exportRoster(context, {
    ...{ format, target, version, force: given['force'] === true },
    ...scopeOf(given),
    ...{ orgName: text('org-name'), orgId: text('org-id'), category: text('category') },
  })
  if (settings.output.value !== 'table') await output.document(report)
  const kind = [formatNames[format], ...(report.version === null ? [] : [report.version])].join(' ')
  await output.done(`Wrote ${kind} to ${target}: ${countsText(report.counts) || 'nothing'}`)
  for (const text of report.notes) await output.note(text)
}

const pushedParts = ['courses', 'enrollments', 'grades'] as const

const pushFlags = [
  {
    name: 'course',
    kind: 'texts',
    placeholder: 'course',
    summary: 'Only this course, by external id or title',
  },
  {
    name: 'only',
    kind: 'words',
    placeholder: 'parts',
    summary: 'Only these parts, such as courses,enrollments; courses are always included',
    choices: pushedParts,
  },
] as const satisfies readonly Flag[]

const kindArgument: Argument = {
  name: 'kind',
  summary: 'Kind of the other system: classroom',
  choices: ['classroom'],
}

const pushCommand: Command = {
  name: 'push',
  summary: 'Write courses, people and grades to Google Classroom',
  writes: ['elsewhere', 'machine'],
  prints: ['PushedRoster'],
  exits: ['partial', 'drift'],
  confirms: true,
  description:
    'Compares the academy with Google Classroom, shows a plan and asks. Courses are created once, under an alias of their external\nid; people are added, or invited if they cannot be; graded items become course work, and grades are set and returned. Nothing is\ndeleted in Classroom. At the end both sides are read and counted again: exit 8 if records were refused, 9 if some differ all the\nsame. After an interruption the same command continues.',
  arguments: [kindArgument],
  flags: pushFlags,
  refuses: noColumns,
  examples: [
    'roster push classroom --dry-run',
    'roster push classroom --course ext:AAA-2014J --only courses,enrollments --yes',
  ],
  interruption: 'continues',
  run: runPush,
}

async function runPush(context: Context, { flags: given, arguments: { kind } }: Given): Promise<void> {
  checkArgument(kindArgument, kind)
  checkChoices(pushFlags, given)
  const { pushRoster } = await import('../roster/push-roster.ts')
  const only = textsIn(given, 'only')
  await pushRoster(context, {
    courses: textsIn(given, 'course'),
    parts: new Set(only.length > 0 ? only : pushedParts),
  })
}

export const commands: readonly Command[] = [
  {
    name: 'validate',
    summary: 'Check a roster for problems',
    writes: [],
    prints: ['RosterReport'],
    description:
      'Reads a package of OneRoster 1.1 or 1.2 (bulk or delta), a Canvas SIS import, uploads of Moodle, users of Kolibri, or the\nsystem of an integration (integration:canvas), and reports what it is, the records of each kind, and every problem with its file, line, column and value. Nothing is sent. What is read\nalthough its specification forbids it, and what is left out, is counted in notes. docs/rosters.md says what becomes of each\ncolumn. Exits 2 if there are problems; warnings keep nothing from being read.',
    arguments: [
      {
        name: 'source',
        file: 'read',
        summary:
          'Folder, zip file or CSV file of OneRoster, Canvas SIS, Moodle or Kolibri; - for a CSV file on standard input; or integration:<kind>',
      },
    ],
    flags: rosterFlags,
    refuses: { ...notAList, quiet: 'The result has no id', dryRun: 'Nothing is sent' },
    examples: ['roster validate school.zip', 'roster validate moodle-users.csv --format moodle -o json'],
    run: async (context, given) => {
      const { validateRoster } = await import('../roster/declared-roster.ts')
      await validateRoster(context, given)
    },
  },
  diffCommand,
  applyCommand,
  exportCommand,
  pushCommand,
]
