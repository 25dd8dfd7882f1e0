import type { JsonObject } from '../../codec/json-text.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { valueAt } from '../output/columns.ts'
import { type PlanTarget, planHeader, savePlanLines, stalePlan } from '../records/plan-lines.ts'
import { type ImportFile, openImportFile, sentence } from '../records/sources/file.ts'
import { jsonLines } from '../records/sources/json.ts'
import type { Row } from '../records/sources/rows.ts'
import { type OnExists, versionOf } from '../records/write.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { type Import, inWindows, type Sending, windowFinder } from './open-import.ts'
import type { PlannedRow } from './plan-import.ts'

/** Saves the rows of a plan that create or change records. Throws a UsageError if one has a password. */
export async function saveImportPlan(
  io: Io,
  path: string,
  { dataset, file, onExists }: Import,
  { command, target }: PlanTarget,
  plan: AsyncIterable<readonly PlannedRow[]>,
): Promise<void> {
  const options = { onExists, ...(dataset.presumed && { presumed: dataset.presumed }) }
  const header = { command, target, source: file.name, options }
  await savePlanLines(io, path, header, changesIn())

  async function* changesIn(): AsyncGenerator<readonly object[]> {
    for await (const rows of plan) {
      yield rows.flatMap(({ planned: { action }, row: { line, record }, found }) => {
        if (action !== 'create' && action !== 'update') return []
        requireNoSecret(dataset, record, `${sentence(file.name)}:${line}`)
        return [{ action, line, record, ...(found !== undefined && { found: identityOf(found) }) }]
      })
    }
  }
}

function requireNoSecret({ columns }: Dataset, record: JsonObject, place: string): void {
  const secret = columns.find(({ secret, path }) => secret && valueAt(record, path) !== undefined)
  if (!secret) return
  throw new UsageError(`A plan file cannot hold a ${secret.name}`, {
    why: [`${place} has one`],
    hint: 'Import the file without a saved plan',
  })
}

/** A plan file that is opened for import. */
export interface OpenedPlan {
  readonly file: ImportFile
  readonly onExists: OnExists
  readonly presumed: JsonObject | undefined
}

/** Opens a saved plan. Throws a UsageError if the file is none of this command and a CommandError for another target. */
export async function openImportPlan(io: Io, path: string, saved: PlanTarget): Promise<OpenedPlan> {
  const file = await openImportFile(io, path, { format: 'jsonl', charset: 'utf-8' })
  let first: unknown
  let last: unknown
  let lines = 0
  for await (const { value } of jsonLines(file)) {
    lines += 1
    first ??= value
    last = value
  }
  const header = planHeader(path, saved, first, { last, count: lines - 2 })
  // Written by saveImportPlan.
  const { onExists, presumed } = header['options'] as Pick<OpenedPlan, 'onExists' | 'presumed'>
  return { file, onExists, presumed }
}

/** Throws a CommandError if the platform no longer has the records that a saved plan found. */
export async function requireSameRecords(
  sending: Sending,
  wanted: Import,
  isLocal: boolean,
  rows: AsyncIterable<readonly Row[]>,
): Promise<void> {
  const { pacing, signal } = sending
  const finder = windowFinder(sending, isLocal)
  for await (const some of inWindows(rows)) {
    const compared = some.filter(({ found }) => found !== undefined)
    await finder.prepare(compared.map(({ record }) => record))
    for (const row of compared) {
      signal.throwIfAborted()
      await pacing.run(async () => {
        const { shown } = await finder.find(await sending.settle(row.record))
        requireFound(wanted, row, shown)
      })
    }
    await pacing.settled()
  }
}

/** Throws a CommandError if the existing record of a row is not the one that the plan found. */
function requireFound(
  { dataset, file, saved }: Import,
  { found, line }: Row,
  shown: JsonObject | null,
): void {
  const now = identityOf(shown)
  if (!found || (found.id === now.id && found.version === now.version)) return
  const change = !shown ? 'no longer exists' : found.id === now.id ? 'has changed' : 'exists already'
  throw stalePlan(
    saved?.command ?? '',
    `${file.name}: the ${dataset.noun} of line ${line} ${change}; nothing was changed`,
  )
}

function identityOf(shown: JsonObject | null): NonNullable<Row['found']> {
  const id = shown?.['id']
  return { id: id === undefined ? null : String(id), version: versionOf(shown) ?? null }
}
