import { calls } from '../../contract/calls.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { BoundFlag } from '../command/flag.ts'
import { pseudonymisingOf } from '../pseudonyms/pseudonym-flags.ts'
import { encodedSource } from '../targets/write-export.ts'
import { UsageError } from '../terminal/errors.ts'
import { fileTarget } from './export-options.ts'
import { exportList } from './list-export.ts'
import { jsonEncoder } from './row-encoder.ts'

const { statements } = calls.analytics

/** Exports xAPI statements to the target of the flags: a statement a line, or one array. */
export async function exportStatements(
  context: Context,
  given: Given,
  filters: readonly BoundFlag[],
): Promise<void> {
  const place = fileTarget(given)
  const target = { ...place, format: formatOf(context, place.file) }
  const privacy = await pseudonymisingOf(context, given)
  const named = given.flags['actor']
  if (privacy && named !== undefined && named !== 'id')
    throw new UsageError(`--actor ${String(named)} and --pseudonymise cannot be used together`)
  await exportList(context, given, {
    ...{ operation: statements, filters, target, order: null, isCounted: false },
    encode: async (rows) => {
      const encoder = jsonEncoder(target.format)
      if (privacy === null) return encodedSource(rows, () => encoder)
      const step = (await import('./privacy-step.ts')).statementPrivacy(privacy)
      return encodedSource(
        step.rows(rows),
        () => encoder,
        () => step.notes(),
      )
    },
  })
}

/** By --output, else by the name of the file, else JSON lines. */
function formatOf({ settings }: Context, file: string | undefined): 'json' | 'jsonl' {
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
