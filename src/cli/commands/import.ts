import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { checkChoices, type Flag, fileFormFlags, mappingFlags } from '../command/flag.ts'
import type { Dataset, DatasetName } from '../dataset/dataset.ts'
import type { Import } from '../records/open-import.ts'
import type { ImportFile } from '../records/sources/file.ts'
import type { Mapping } from '../records/sources/mapping.ts'
import { ExitWith, type Finding, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'

export const importFlags = [
  {
    name: 'on-exists',
    kind: 'text',
    summary: 'What to do with a row whose record exists (default update)',
    choices: ['update', 'skip', 'fail'],
  },
  ...mappingFlags,
  {
    name: 'ignore-other-columns',
    kind: 'switch',
    summary: 'Leave out columns of the file that mean no field, and say which',
  },
  { name: 'skip-invalid', kind: 'switch', summary: 'Import the valid rows, and reject the others (exit 8)' },
  {
    name: 'errors',
    kind: 'text',
    placeholder: 'path',
    file: 'write',
    summary: 'File for rejected rows (default <file>.errors.csv, or the next free name)',
  },
  {
    name: 'format',
    kind: 'text',
    summary: 'Format of the file (default from its name or content)',
    choices: ['csv', 'tsv', 'json', 'jsonl'],
  },
  ...fileFormFlags,
  {
    name: 'sheet',
    kind: 'text',
    placeholder: 'sheet',
    summary: 'Sheet of an XLSX workbook, by name or number (default the first)',
  },
  {
    name: 'clear-empty',
    kind: 'switch',
    summary: 'Reset fields whose cells are empty (default: an empty cell changes nothing)',
  },
  {
    name: 'batch-size',
    kind: 'number',
    summary: 'Maximum rows in one request, where the platform takes several (default 500)',
  },
] as const satisfies readonly Flag[]

/** A switch that sets a field of each record: `--extra-credit` of grades. */
interface FieldSwitch {
  readonly flag: Flag
  readonly field: string
}

interface Importing {
  readonly dataset: DatasetName
  readonly nouns: string
  readonly examples: readonly string[]
  readonly fieldSwitch?: FieldSwitch
  readonly system?: OtherSystem
  readonly form?: OtherForm
}

export function importCommand({
  dataset: name,
  nouns,
  examples,
  fieldSwitch,
  system,
  form,
}: Importing): Command {
  return {
    name: 'import',
    summary: `Create or update ${nouns} from a file`,
    writes: ['academy', 'files'],
    prints: ['ImportReport', 'PlannedRow[]'],
    exits: ['partial'],
    description:
      'The file is CSV, JSON, JSONL or XLSX, with .gz if text is compressed; - reads standard input. Columns are recognised by their\nnames, in any order. All rows are checked before anything is sent; --dry-run shows what would happen to each. Empty\ncells leave their fields as they are, unless --clear-empty is given; in JSON, null resets a field. Rejected rows are\nwritten to a file that can be corrected and imported again.',
    arguments: [
      {
        name: 'file',
        summary: 'File to import; - for standard input',
        file: 'read',
        unlisted: ['--file', '-f'],
        ...(system && { instead: [system.flag.name] }),
      },
    ],
    createsAcademy: true,
    interruption: 'explained',
    flags: [...importFlags, ...[fieldSwitch, system, form].flatMap((other) => (other ? [other.flag] : []))],
    examples,
    run: async (context, given) => {
      const { loadDataset } = await import('../dataset/load-dataset.ts')
      const loaded = await loadDataset(name)
      const isOn = fieldSwitch !== undefined && given.flags[fieldSwitch.flag.name] === true
      const dataset = isOn ? { ...loaded, presumed: { [fieldSwitch.field]: true } } : loaded
      const both = [system, form].flatMap((each) => each?.flag.name ?? [])
      if (both.length > 1 && both.every((flag) => given.flags[flag] !== undefined)) {
        throw new UsageError(`--${both.join(' and --')} cannot be used together`)
      }
      const source = (system && sourceIn(context, given, system)) ?? (form && formIn(context, given, form))
      await importRecords(context, given, { dataset, path: given.arguments['file'], ...source })
    },
  }
}

const fileOnlyFlags = [
  'format',
  ...fileFormFlags.map(({ name }) => name),
  'sheet',
  'clear-empty',
  'ignore-other-columns',
]

interface OtherSystem {
  readonly flag: Flag
  open(context: Context, name: string): Promise<ImportFile>
}

/** Nothing without the flag. Throws a UsageError if there is a file, too. */
function sourceIn(
  context: Context,
  { flags, arguments: { file } }: Given,
  { flag, open }: OtherSystem,
): Pick<Imported, 'path' | 'open'> | undefined {
  const name = flags[flag.name]
  if (name === undefined) return undefined
  if (file !== undefined) throw new UsageError(`A file and --${flag.name} cannot be used together`)
  const ofFiles = fileOnlyFlags.find((each) => flags[each] !== undefined)
  if (ofFiles !== undefined) {
    throw new UsageError(`--${ofFiles} is about files; --${flag.name} ${name} has none`)
  }
  checkChoices([flag], flags)
  return { path: String(name), open: () => open(context, String(name)) }
}

/** A file with several records in a row. */
interface OtherForm {
  readonly flag: Flag
  open(context: Context, path: string, value: string, mapping: Mapping): Promise<ImportFile>
}

/** Nothing without the flag. Throws a UsageError without a file. */
function formIn(
  context: Context,
  given: Given,
  { flag, open }: OtherForm,
): Pick<Imported, 'open'> | undefined {
  const value = given.flags[flag.name]
  const path = given.arguments['file']
  if (value === undefined) return undefined
  if (path === undefined) throw new UsageError(`--${flag.name} requires a file`)
  return { open: (mapping) => open(context, path, String(value), mapping) }
}

export interface Imported {
  readonly dataset: Dataset
  /** File of records; undefined for another source. */
  readonly path: string | undefined
  /** Opens a source that is no file. */
  readonly open?: (mapping: Mapping) => Promise<ImportFile>
}

/** Throws ExitWith if rows were rejected. */
export async function importRecords(
  context: Context,
  given: Given,
  { dataset, path, open }: Imported,
): Promise<void> {
  const { io, settings } = context
  checkChoices(importFlags, given.flags)
  const text = (flag: string) => (given.flags[flag] === undefined ? undefined : String(given.flags[flag]))
  const batchSize = Number(given.flags['batch-size'] ?? 500)
  if (!(Number.isInteger(batchSize) && batchSize >= 1 && batchSize <= 1000))
    throw new UsageError(`--batch-size must be a whole number from 1 to 1000, not ${batchSize}`)
  const [
    { openImportFile },
    { withoutOthers },
    { fieldsOf, mappingOf, readMapping, saveMapping, wholeMapping },
    { errorsFileOf },
  ] = await Promise.all([
    import('../records/sources/file.ts'),
    import('../records/sources/header.ts'),
    import('../records/sources/mapping.ts'),
    import('../records/run-import.ts'),
  ])
  await io.expectGarbage?.()
  const to = fieldsOf(dataset, context.session.target().kind === 'local')
  const told = await readMapping(io, given.flags, to)
  const file = await (open ? open(told) : openImportFile(io, path ?? '-', told))
  const known = await mappingOf(io, file, told, given.flags, to)
  const isPartial = given.flags['ignore-other-columns'] === true
  const mapping = isPartial ? await withoutOthers(io, dataset, known, file) : known
  const mappingFile = text('save-mapping')
  const wanted: Import = {
    ...mapping,
    dataset,
    file,
    onExists: (text('on-exists') ?? 'update') as never,
    skipInvalid: given.flags['skip-invalid'] === true,
    batchSize,
    errorsFile: text('errors') ?? errorsFileOf(file),
    isErrorsFileNamed: text('errors') !== undefined,
    saveMapping: async () => {
      if (mappingFile === undefined) return
      await saveMapping(io, mappingFile, text('mapping'), wholeMapping(mapping, dataset, file))
    },
  }
  await (settings.dryRun.value ? showPlan(context, wanted) : doImport(context, wanted))
}

async function doImport({ output, settings, ...rest }: Context, wanted: Import): Promise<void> {
  const { runImport } = await import('../records/run-import.ts')
  const { counts, rows, errorsFile, rejections } = await runImport({ output, settings, ...rest }, wanted)
  const { name } = wanted.file
  const imported = `Imported ${pluralise(rows - counts.failed, 'row')} of ${rows} from ${name}`
  await output.done(`${imported}: ${countsText(counts)}`)
  const { createFindingList, reportToWorkflow } = await import('../output/github.ts')
  const findings = createFindingList()
  const lineOf = (line: number) => wanted.file.placeOf?.(line).line ?? line
  for (const { line, shown } of rejections) findings.add(rejectionAt(wanted.file, lineOf(line), shown))
  await reportToWorkflow(rest.io, { title: imported, counts, ...findings.found() })
  if (['json', 'jsonl', 'yaml'].includes(settings.output.value)) {
    await output.document({ file: name, rows, ...counts, errorsFile })
  }
  if (errorsFile !== null) {
    await output.note(`Rejected rows are in ${errorsFile}; correct them and import that file`)
    throw new ExitWith('partial')
  }
}

/** Throws ExitWith if rows would be rejected. */
async function showPlan(context: Context, wanted: Import): Promise<void> {
  const { io, output } = context
  const [{ planImport, plannedActions }, { createFindingList, reportToWorkflow }] = await Promise.all([
    import('../records/plan-import.ts'),
    import('../output/github.ts'),
  ])
  const findings = createFindingList()
  const counts: Record<string, number> = Object.fromEntries(plannedActions.map((action) => [action, 0]))
  const plan = await planImport(context, wanted)
  async function* listed() {
    for await (const rows of plan) {
      for (const { planned, shown } of rows) {
        counts[planned.action] = (counts[planned.action] ?? 0) + 1
        if (shown !== null) findings.add(rejectionAt(wanted.file, planned.line, shown))
      }
      yield rows.map(({ planned }) => planned)
    }
  }
  const { name } = wanted.file
  const paths = ['line', 'key', 'action', 'changes', 'message']
  await output.list(listed(), { table: paths, paths })
  await output.done(`Dry run of ${name}: ${countsText(counts)}; nothing was sent`)
  await reportToWorkflow(io, { title: `Dry run of ${name}`, counts, ...findings.found() })
  if (counts['fail']) throw new ExitWith('partial')
}

/** Returns the finding of a rejected row. The rows of a JSON array have numbers in place of lines. */
function rejectionAt({ name, path, format }: ImportFile, line: number, reason: string): Finding {
  const isArray = format === 'json'
  const text = isArray ? `item ${line}: ${reason}` : reason
  return { level: 'error', file: path === null ? null : name, line: isArray ? 0 : line, text }
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0)
  return some.map(([kind, count]) => `${count} ${kind}`).join(', ') || 'nothing to do'
}
