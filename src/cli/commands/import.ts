import { checkChoices } from '../command/choices.ts'
import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { Flag } from '../command/flag.ts'
import type { DatasetName } from '../dataset/dataset.ts'
import { counted } from '../terminal/counted.ts'
import { ExitWith, UsageError } from '../terminal/errors.ts'

const encodings = ['utf-8', 'utf-16', 'windows-1252']
const formats = ['csv', 'tsv', 'json', 'jsonl']

const flags = [
  {
    name: 'on-exists',
    kind: 'text',
    summary: 'What to do with a row whose record exists (default update)',
    choices: ['update', 'skip', 'fail'],
  },
  {
    name: 'map',
    kind: 'texts',
    placeholder: 'column=field',
    summary:
      'Column of the file that holds a field, such as "Given name=firstName"; nothing after = ignores the column',
  },
  { name: 'skip-invalid', kind: 'switch', summary: 'Import the valid rows, and reject the others (exit 8)' },
  {
    name: 'errors',
    kind: 'text',
    placeholder: 'path',
    summary: 'File for rejected rows (default <file>.errors.csv)',
  },
  { name: 'resume', kind: 'switch', summary: 'Continue an interrupted import of this file' },
  { name: 'restart', kind: 'switch', summary: 'Start an interrupted import again from the first row' },
  {
    name: 'format',
    kind: 'text',
    summary: 'Format of the file (default from its name or content)',
    choices: formats,
  },
  {
    name: 'delimiter',
    kind: 'text',
    placeholder: 'character',
    summary: 'Character between cells (default detected)',
  },
  { name: 'encoding', kind: 'text', summary: 'Encoding of the file (default detected)', choices: encodings },
  { name: 'concurrency', kind: 'number', summary: 'Maximum requests at once (default 8)' },
] as const satisfies readonly Flag[]

/** The command `import` of a dataset. */
export function importCommand(name: DatasetName, noun: string, examples: readonly string[]): Command {
  return {
    name: 'import',
    summary: `Create or update ${noun} from a file`,
    description:
      'The file is CSV, JSON or JSONL, with .gz if compressed; - reads standard input. Columns are recognised by their\nnames, in any order. All rows are checked before anything is sent. Rejected rows are written to a file that can be\ncorrected and imported again.',
    arguments: [{ name: 'file', summary: 'File to import; - for standard input' }],
    refuses: { quiet: 'An import prints no ids' },
    flags,
    examples,
    run: (context, given) => runCommand(context, given, name),
  }
}

async function runCommand(context: Context, given: Given, name: DatasetName): Promise<void> {
  const { io, output, settings } = context
  checkChoices(flags, given.flags)
  const text = (flag: string) => (given.flags[flag] === undefined ? undefined : String(given.flags[flag]))
  if (given.flags['resume'] && given.flags['restart']) {
    throw new UsageError('--resume and --restart cannot be used together')
  }
  const [
    { loadDataset },
    { openImportFile },
    { readMap },
    { charsetNames },
    { errorsFileOf },
    { runImport },
  ] = await Promise.all([
    import('../dataset/load-dataset.ts'),
    import('../import/import-file.ts'),
    import('../import/header.ts'),
    import('../import/charset.ts'),
    import('../import/errors-file.ts'),
    import('../import/run-import.ts'),
  ])
  const dataset = await loadDataset(name)
  const map = given.flags['map']
  const file = await openImportFile(io, given.arguments['file'] ?? '-', {
    charset: charsetNames.get(text('encoding') ?? ''),
    // The choices are those of the formats.
    format: text('format') as never,
  })
  const { counts, rows, errorsFile } = await runImport(context, {
    dataset,
    file,
    map: readMap(dataset, Array.isArray(map) ? map.map(String) : []),
    delimiter: text('delimiter'),
    onExists: (text('on-exists') ?? 'update') as never,
    skipInvalid: given.flags['skip-invalid'] === true,
    beginning: given.flags['resume'] ? 'resume' : given.flags['restart'] ? 'restart' : 'new',
    concurrency: Number(given.flags['concurrency'] ?? 8),
    errorsFile: text('errors') ?? errorsFileOf(file.name),
  })
  const told = Object.entries(counts).filter(([, count]) => count > 0)
  await output.done(
    `Imported ${counted(rows - counts.failed, 'row')} of ${rows} from ${file.name}: ${told.map(([kind, count]) => `${count} ${kind}`).join(', ') || 'nothing to do'}`,
  )
  if (['json', 'jsonl', 'yaml'].includes(settings.output.value)) {
    await output.document({ file: file.name, rows, ...counts, errorsFile })
  }
  if (errorsFile !== null) {
    await output.note(`Rejected rows are in ${errorsFile}; correct them and import that file`)
    throw new ExitWith('partial')
  }
}
