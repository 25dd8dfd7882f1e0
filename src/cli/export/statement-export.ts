import type { Page } from '../../client/call.ts'
import type { Format } from '../../config/setting.ts'
import { calls } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { type BoundFlag, checkOwnChoices } from '../command/flag.ts'
import { showRequest } from '../operation/dry-run.ts'
import { queryOf } from '../operation/operation-flags.ts'
import { endBytes, rowBytes } from '../output/formats/format.ts'
import { pseudonymisingOf } from '../pseudonyms/pseudonym-flags.ts'
import type { Pseudonymising } from '../pseudonyms/pseudonym-table.ts'
import { UsageError } from '../terminal/errors.ts'
import { listEncoder } from './row-encoder.ts'
import { type Source, writeExport } from './write-export.ts'

const { statements } = calls.analytics

/** Exports xAPI statements to the target of the flags: a statement a line, or one array. */
export async function exportStatements(
  context: Context,
  given: Given,
  filters: readonly BoundFlag[],
): Promise<void> {
  const { io, session, settings } = context
  const { flags } = given
  checkOwnChoices(session.target(), filters, flags)
  const file = flags['file'] === undefined || flags['file'] === '-' ? undefined : String(flags['file'])
  const force = flags['force'] === true
  if (force && file === undefined) throw new UsageError('--force requires --file <path>')
  const format = formatOf(context, file)
  const caller = await session.caller()
  const query = { ...queryOf(filters, flags), limit: maxPageSize }
  const input = { query, signal: io.signal }
  const how = await pseudonymisingOf(context, given)
  const named = flags['actor']
  if (how && named !== undefined && named !== 'id')
    throw new UsageError(`--actor ${String(named)} and --pseudonymise cannot be used together`)
  if (settings.dryRun.value) return showRequest(context, caller.request(statements, input))
  await writeExport(
    context,
    { format, gzip: file?.toLowerCase().endsWith('.gz') === true, file, force },
    () => sourceOf(context, caller.pages(statements as Operation, input), format, how),
    async () => null,
  )
}

/** By --output, else by the name of the file, else JSON lines. */
function formatOf({ settings }: Context, file: string | undefined): Format {
  const { value, origin } = settings.output
  if (origin.source === 'flag') {
    if (value === 'json' || value === 'jsonl') return value
    throw new UsageError(`${origin.name} ${value} is not supported: statements are JSON`, {
      hint: 'Use -o jsonl for a statement per line, or -o json for one array',
    })
  }
  const ending = /\.(parquet|xlsx)(\.gz)?$/i.exec(file ?? '')
  if (ending) {
    throw new UsageError(`Cannot write ${file}: statements are JSON`, {
      hint: 'Use a name that ends in .jsonl or .json, each also with .gz',
    })
  }
  return /\.json(\.gz)?$/i.test(file ?? '') ? 'json' : 'jsonl'
}

async function sourceOf(
  context: Context,
  pages: AsyncIterable<Pick<Page<Operation>, 'data'>>,
  format: Format,
  how: Pseudonymising | null,
): Promise<Source> {
  const columns = { csv: [], table: [], chosen: null, typed: async () => [] }
  const encoder = await listEncoder(context, { format, raw: false, bom: false, delimiter: ',' }, columns)
  let rows = 0
  let groupNotes: readonly string[] = []

  async function* bytes() {
    const hidden =
      how &&
      (await import('./pseudonymised-statements.ts')).pseudonymisedStatements(pages, how, (notes) => {
        groupNotes = notes
      })
    for await (const { data } of hidden ?? pages) {
      rows += data.length
      yield rowBytes(encoder, data)
    }
    yield endBytes(encoder)
  }

  return {
    bytes: bytes(),
    rows: () => rows,
    guarded: () => 0,
    notes: () => (how ? [timesNote(how), ...groupNotes] : []),
  }
}

function timesNote({ times }: Pseudonymising): string {
  const exact = '. Times are exact, and may identify people; --coarsen-times day|week|month reduces them'
  return `Pseudonymised data is still personal data${times === null ? exact : ''}`
}
