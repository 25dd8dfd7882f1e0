import type { Command } from '../command/command.ts'
import { bound, type FieldFlag } from '../command/flag.ts'
import { withTimeZone } from '../command/time-flag.ts'
import type { DatasetName } from '../dataset/dataset.ts'
import { allColumnsFlag, formatFlag, historyFlag, targetFlags } from '../export/export-flags.ts'
import { ignoreFiltersFlag } from '../operation/operation-flags.ts'

/** What an export of records is. */
export interface ExportSpec {
  readonly dataset: DatasetName
  /** Several of them, in help: `enrolments`. */
  readonly noun: string
  /** The flags of the list's filters and of its order. */
  readonly query: Readonly<Record<string, FieldFlag>>
  /** The order in which no row moves while the list is read; null where the list has that one alone. */
  readonly order: string | null
  /** True where the records have a history, which can be exported in their place. */
  readonly history?: true
  readonly examples: readonly string[]
}

/** `learnctl <noun> export`: all records, as an import reads them. */
export function exportCommand(spec: ExportSpec): Command {
  const query = bound(spec.query)
  return {
    name: 'export',
    summary: `Export ${spec.noun} as a file that can be imported`,
    description:
      'The format is set by --output, else by the extension of --file (.csv, .json, .jsonl, .ndjson or .yaml, with .gz added to\ncompress); the default is CSV. The columns are those of the import, with your own ids in place of those of the platform,\nso that the file can be imported elsewhere. Passwords are never exported. A record without an externalId has its id there.',
    refuses: {
      quiet: spec.history
        ? 'Progress has no ids of its own'
        : `Print ids with: learnctl ${spec.dataset} list --all -q`,
      limit: 'An export contains all rows; use the filters to narrow it',
    },
    flags: [
      formatFlag,
      ...withTimeZone(query.map(({ flag }) => flag)),
      ...(spec.history ? [historyFlag] : []),
      allColumnsFlag,
      ignoreFiltersFlag,
      ...targetFlags,
    ],
    examples: spec.examples,
    run: async (context, given) => {
      try {
        const { exportRecords } = await import('../export/export-records.ts')
        await exportRecords(context, given, spec, query)
      } catch (error) {
        const { withSources } = await import('../operation/refused-call.ts')
        throw withSources(error, { fields: [], query, positions: [] }, given)
      }
    },
  }
}
