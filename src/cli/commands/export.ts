import type { Command } from '../command/command.ts'
import { type BoundFlag, bindQueryFlags, type FieldFlags, type Flag, withTimeZone } from '../command/flag.ts'
import { type DatasetName, recordName } from '../dataset/dataset.ts'
import { allColumnsFlag, formatFlag, historyFlag, targetFlags } from '../export/export-options.ts'
import { ignoreFiltersFlag } from '../operation/operation-flags.ts'
import { pseudonymFlags } from '../pseudonyms/pseudonym-flags.ts'
import { sheetFlag } from '../targets/sheet-flag.ts'

interface ExportSpec {
  readonly dataset: DatasetName
  /** Default the name of the dataset. */
  readonly noun?: string
  readonly query: FieldFlags
  /** No row moves in it during the export (default `createdAt`); null if the list has only that order. */
  readonly order?: string | null
  readonly history?: true
  readonly people?: true
  readonly examples: readonly string[]
}

export function oldestFirst({ sort, ...filters }: FieldFlags): FieldFlags {
  return { ...filters, ...(sort && { sort: { ...sort, default: 'createdAt' } }) }
}

export function exportCommand(spec: ExportSpec): Command {
  const { dataset, noun = dataset, order = 'createdAt' } = spec
  const query = bindQueryFlags(spec.query)
  return {
    name: 'export',
    hasRows: true,
    summary: `Export ${noun} as a file that can be imported`,
    writes: [],
    prints: [`${recordName(dataset)}[]`],
    description:
      'The format is set by --output, else by the extension of --file (.csv, .json, .jsonl, .ndjson or .yaml, with .gz added to\ncompress, .parquet or .xlsx); the default is CSV. The columns are those of the import, with your own ids in place of those of the platform,\nso that the file can be imported elsewhere. Passwords are never exported. A record without an externalId has its id there.',
    refuses: {
      quiet: spec.history
        ? 'Progress has no ids of its own'
        : `Print ids with: learnctl ${dataset} list --all -q`,
      limit: 'An export contains all rows; use the filters to narrow it',
    },
    flags: exportFlags(query, [
      ...(spec.history ? [historyFlag] : []),
      allColumnsFlag,
      ...(spec.people ? pseudonymFlags : []),
      ignoreFiltersFlag,
    ]),
    examples: spec.examples,
    run: withFlagNames(query, async (context, given) => {
      const { exportRecords } = await import('../export/export-records.ts')
      await exportRecords(context, given, { dataset, order }, query)
    }),
  }
}

export function exportFlags(query: readonly BoundFlag[], own: readonly Flag[] = []): readonly Flag[] {
  return [formatFlag, ...withTimeZone(query.map(({ flag }) => flag)), ...own, ...targetFlags, sheetFlag]
}

export function withFlagNames(query: readonly BoundFlag[], run: Command['run']): Command['run'] {
  return async (context, given) => {
    try {
      await run(context, given)
    } catch (error) {
      const { withSources } = await import('../operation/refused-call.ts')
      throw withSources(error, { fields: [], query, positions: [] }, given)
    }
  }
}
