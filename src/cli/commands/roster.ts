import {
  type Argument,
  type Command,
  checkArgument,
  type Given,
  noColumns,
  notAList,
} from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { checkChoices, type Flag, textsIn } from '../command/flag.ts'
import { pseudonymFlag } from '../pseudonyms/pseudonym-flags.ts'
import { exportFormats, formatNames } from '../roster/roster.ts'
import { rosterFlags, scopeFlags, scopeOf } from '../roster/roster-options.ts'
import { sheetFlag } from '../targets/sheet-flag.ts'
import { UsageError } from '../terminal/errors.ts'
import { applyCommand, diffCommand } from './roster-apply.ts'

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

/** Formats of flags that only one has a use for. */
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

const sourceArgument: Argument = {
  name: 'source',
  file: 'read',
  summary:
    'Folder, zip file or CSV file of OneRoster, Canvas SIS, Moodle or Kolibri; - for a CSV file on standard input; or integration:<kind>',
}

export const commands: readonly Command[] = [
  {
    name: 'validate',
    summary: 'Check a roster for problems',
    writes: [],
    prints: ['RosterReport'],
    description:
      'Reads a package of OneRoster 1.1 or 1.2 (bulk or delta), a Canvas SIS import, uploads of Moodle, users of Kolibri, or the\nsystem of an integration (integration:canvas), and reports what it is, the records of each kind, and every problem with its file, line, column and value. Nothing is sent. What is read\nalthough its specification forbids it, and what is left out, is counted in notes. docs/rosters.md says what becomes of each\ncolumn. Exits 2 if there are problems; warnings keep nothing from being read.',
    arguments: [sourceArgument],
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
