import type { Command, Given } from '../command/command.ts'
import { noColumns } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { checkChoices, type Flag } from '../command/flag.ts'
import { pseudonymFlag } from '../pseudonyms/pseudonym-flags.ts'
import { exportFormats, formatNames } from '../roster/roster.ts'
import { scopeFlags, scopeOf } from '../roster/roster-options.ts'
import { sheetFlag } from '../sheet/sheet-flag.ts'
import { UsageError } from '../terminal/errors.ts'

const flags = [
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

export const rosterExportCommand: Command = {
  name: 'export',
  summary: 'Write a package that another system imports: OneRoster, Canvas SIS or Moodle',
  writes: ['files'],
  prints: ['RosterPackage'],
  description:
    'Writes a folder, or a zip file if the target ends in .zip, for you alone (mode 0600), completely or not at all. The same\nacademy gives the same bytes. Records have your own ids, else those of the platform. Passwords are never exported, and\nnotes say what the format does not hold; docs/rosters.md has the whole table.',
  arguments: [{ name: 'target', summary: 'Folder to write, or a file that ends in .zip', file: 'write' }],
  flags,
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
  checkChoices(flags, given)
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
