import type { Page } from '../../client/call.ts'
import { isJsonObject, jsonText } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { maxPageSize, personalSections, singleSections } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { showRequest } from '../operation/dry-run.ts'
import { type Source, writeExport } from '../targets/write-export.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { fileTarget } from './export-options.ts'

const operation: Operation = calls.users.data

/** As one JSON document. */
export async function exportPersonalData(context: Context, given: Given): Promise<void> {
  const { io, session, settings } = context
  const place = fileTarget(given)
  requireJson(context, place.file)
  const caller = await session.caller()
  const params = { userId: given.arguments['user'] ?? '' }
  const input = { params, query: { limit: maxPageSize }, signal: io.signal }
  if (settings.dryRun.value) return showRequest(context, caller.request(operation, input))
  await writeExport(context, { ...place, format: 'json' }, async () =>
    sourceOf(caller.pages(operation, input), io.now()),
  )
}

/** Throws a UsageError if another format is asked for. */
function requireJson({ settings }: Context, file: string | undefined): void {
  const { value, origin } = settings.output
  const asked = origin.source === 'flag' && value !== 'json' ? `${origin.name} ${value}` : undefined
  const named = file !== undefined && !/\.json(\.gz)?$/i.test(file) ? `--file ${file}` : undefined
  const other = asked ?? named
  if (other === undefined) return
  throw new UsageError(`${other} is not supported: the data about a person is one JSON document`, {
    hint: 'Use a name that ends in .json, or .json.gz to compress it',
  })
}

/** Joins the records to a document: an array for each section, in their order. */
function sourceOf(pages: AsyncIterable<Pick<Page<Operation>, 'data'>>, now: number): Source {
  let rows = 0

  async function* bytes() {
    const sections = new Map(Object.keys(personalSections).map((name): [string, string[]] => [name, []]))
    for await (const { data } of pages) {
      for (const item of data) {
        const { section, record } = isJsonObject(item) ? item : {}
        const records = sections.get(String(section))
        if (!records || !isJsonObject(record)) throw unusable()
        records.push(jsonText(record))
        rows += 1
      }
    }
    yield Buffer.from(`{\n"exportedAt": ${JSON.stringify(new Date(now).toISOString())}`)
    for (const [name, records] of sections) {
      const isSingle = singleSections.some((single) => single === name)
      const list = records.length === 0 ? '[]' : `[\n  ${records.join(',\n  ')}\n]`
      yield Buffer.from(`,\n"${name}": ${isSingle ? (records[0] ?? 'null') : list}`)
    }
    yield Buffer.from('\n}\n')
  }

  return { bytes: bytes(), rows: () => rows, guarded: () => 0, notes: () => [] }
}

function unusable(): CommandError {
  return new CommandError('answer_unusable', 'failure', 'The platform returned data in an unknown form', {
    hint: 'Use the version of learnctl that the academy is served with',
  })
}
