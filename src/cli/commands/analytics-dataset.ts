import { formatCount } from '../../codec/display-text.ts'
import { platformName } from '../../config/target.ts'
import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { Flag } from '../command/flag.ts'
import { changedPseudonymFlags, pseudonymisingOf } from '../pseudonyms/pseudonym-flags.ts'
import { UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'

const flags = [
  {
    name: 'full',
    kind: 'switch',
    summary: 'Begin again with all rows, and remove the files of earlier runs',
  },
  ...changedPseudonymFlags,
] as const satisfies readonly Flag[]

export const datasetCommand: Command = {
  name: 'dataset',
  hasRows: 'in a folder',
  summary: 'Write users, courses, enrolments, progress and grades as files for a database',
  writes: ['files'],
  prints: [],
  description:
    'The first run writes all rows of users, courses, lessons, enrollments, progress (its whole history) and grades; each later one\nadds what was added, changed, removed or erased since. -o parquet (default), csv or jsonl sets the format. schema.json has the\ntypes, keys and references, load.sql loads the files into DuckDB, load.postgresql.sql into PostgreSQL and load.bigquery.sql into\nBigQuery. A run that is interrupted adds nothing, and the next one makes up for it. docs/analytics.md has more.\n\nFiles keep what they have: after users were erased, --full writes them without these. With --pseudonymise, each run needs\nthe same key and precision of times, and a folder has no other files.',
  arguments: [{ name: 'folder', summary: 'Folder of the data set', file: 'write' }],
  flags,
  refuses: {
    columns: 'The files have all columns',
    limit: 'A data set has all rows',
    dryRun: 'It changes nothing on the platform',
  },
  examples: [
    'analytics dataset warehouse',
    'analytics dataset warehouse-csv -o csv',
    'analytics dataset study --pseudonymise --pseudonym-key study.key --coarsen-times week',
  ],
  interruption: 'continues',
  run: runDataset,
}

async function runDataset(context: Context, given: Given): Promise<void> {
  const { folder = '' } = given.arguments
  const { session, output } = context
  if (folder === '-') {
    throw new UsageError('Standard output is not supported: a data set has several files', {
      hint: 'Name a folder',
    })
  }
  const format = await formatOf(context)
  const pseudonymising = await pseudonymisingOf(context, given)
  const caller = await session.caller()
  const { writeDataset } = await import('../export/dataset-run.ts')
  const { rows, isFull, manifest, notes } = await writeDataset(context, caller, {
    name: folder,
    format,
    isFull: given.flags['full'] === true,
    platform: platformName(session.target()),
    pseudonymising,
  })
  const run = manifest.runs.at(-1)?.number
  const counts = Object.entries(rows).map(([table, count]) => `${table} ${formatCount(count)}`)
  const sum = Object.values(rows).reduce((all, count) => all + count, 0)
  await output.done(
    counts.length === 0
      ? `Nothing has changed since run ${run} of ${folder}`
      : `${isFull ? 'Wrote' : 'Added'} ${pluralise(sum, 'row')} to ${folder} in run ${run}: ${counts.join(', ')}`,
  )
  for (const note of notes) await output.note(note)
}

async function formatOf({ settings }: Context) {
  const { value, origin } = settings.output
  if (origin.source !== 'flag') return undefined
  const { datasetFormats } = await import('../export/dataset-folder.ts')
  const format = datasetFormats.find((each) => each === (value as string))
  if (format) return format
  throw new UsageError(`${origin.name} ${value} is not supported: a data set has files for databases`, {
    hint: 'Use -o parquet, csv or jsonl',
  })
}
